import { createPublicKey, verify } from 'node:crypto';
import { isTimely } from '../../kernel/signature.js';
import { buttonCodes } from './buttoncodes.js';
import { asObject, asText, parseJsonObject } from './call.js';
import type { Inbound, Platform } from './platform.js';

const IGNORED = { kind: 'ignored' } as const;

/** Interaction types (Discord, Receiving and Responding). */
const PING = 1;
const COMMAND = 2;
const BUTTON_PRESSED = 3;
const PONG = { type: 1 };

export const PUBLIC_KEY = /^[0-9a-f]{64}$/i;
const SIGNATURE = /^[0-9a-f]{128}$/i;
/** DER prefix of an Ed25519 public key (RFC 8410). */
const DER = Buffer.from('302a300506032b6570032100', 'hex');

/** Ed25519 over timestamp and body. A timestamp more than five minutes off counts as a replay. */
export const isDiscords: Platform['verify'] = ({ headers, body }, { values }, now) => {
  const { publicKey = '' } = values;
  const at = headers['x-signature-timestamp'] ?? '';
  const signature = headers['x-signature-ed25519'] ?? '';
  if (!PUBLIC_KEY.test(publicKey) || !SIGNATURE.test(signature) || !isTimely(at, now)) return false;
  const der = Buffer.concat([DER, Buffer.from(publicKey, 'hex')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, Buffer.concat([Buffer.from(at), body]), key, Buffer.from(signature, 'hex'));
};

/** `custom_id` has at most 100 characters: a letter, an id, and 48 digits. */
export const discordButtons = buttonCodes(48);

export const followUp = (replyTo: string | null): string => {
  const [application = '', token = ''] = (replyTo ?? '').split(':');
  return `webhooks/${encodeURIComponent(application)}/${encodeURIComponent(token)}`;
};

export const parseDiscord = (body: Buffer): Inbound => {
  const interaction = parseJsonObject(body.toString('utf8'));
  const { id, application_id, token, type } = interaction;
  if (type === PING) return { kind: 'challenge', reply: PONG };
  const sender = parseSender(interaction);
  const eventId = asText(id);
  if (!sender || eventId === '') return IGNORED;
  const replyTo = `${asText(application_id)}:${asText(token)}`;
  const pressed = asObject(interaction.data);
  if (type === BUTTON_PRESSED) return ofButton(pressed, { sender, eventId, replyTo });
  const text = type === COMMAND ? parseCommandText(pressed) : '';
  return text === '' ? IGNORED : { kind: 'message', sender, eventId, replyTo, text };
};

type From = Pick<Extract<Inbound, { kind: 'button' }>, 'sender' | 'eventId' | 'replyTo'>;

const ofButton = ({ custom_id }: Record<string, unknown>, from: From): Inbound => {
  const decision = discordButtons.read(asText(custom_id));
  return decision ? { ...from, kind: 'button', ...decision } : IGNORED;
};

const ID = /^\d{1,20}$/;

/** Discord puts the user elsewhere for commands on a server. */
const parseSender = ({ member, user }: Record<string, unknown>) => {
  const person = asObject(asObject(member).user ?? user);
  const id = asText(person.id);
  if (!ID.test(id) || person.bot === true) return null;
  const at = asText(person.username) && `@${asText(person.username)}`;
  return { id, name: [asText(person.global_name), at].filter(Boolean).join(' ') };
};

const parseCommandText = ({ name, options }: Record<string, unknown>): string => {
  const input = Array.isArray(options) ? options.map((one) => asText(asObject(one).value)) : [];
  const text = input.join(' ').trim();
  return name === 'ask' ? text : `/${asText(name)} ${text}`.trim();
};

/** Command type chat input, and option type string. */
const TYPED = 1;
const TEXT = 3;

const option = (name: string, description: string, required: boolean) => {
  return { type: TEXT, name, description, required };
};
const command = (name: string, description: string, ...options: object[]) => {
  return { type: TYPED, name, description, options };
};

export const DISCORD_COMMANDS = [
  command('ask', 'Send a message to your agents', option('text', 'Message text', true)),
  command('link', 'Link this Discord account', option('code', 'Link code', false)),
  command('new', 'Start a new conversation'),
  command('status', 'Show the current status'),
  command('help', 'Show the commands'),
];
