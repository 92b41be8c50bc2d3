import { LARGE_JSON_BYTES } from '../../kernel/json.js';
import { isSame } from '../../kernel/signature.js';
import { asText, objectOf } from './call.js';
import { buttonIn, isOurButton } from './mattermostbuttons.js';
import type { Inbound, PlatformSettings } from './platform.js';

/** `replyTo` of a slash command: its answer is the reply to the request, and only its sender sees it. */
export const COMMAND = 'command';

const ID = /^[a-z0-9]{26}$/;

/**
 * Whether the body carries one of the tokens, each compared in constant time; where it names none,
 * whether it is a button of ours. Nothing is, while no token is set.
 */
export const isMattermosts = (body: Buffer, secrets: PlatformSettings['secrets']): boolean => {
  // It is parsed before it is proven, and nobody writes so much.
  if (body.length > LARGE_JSON_BYTES) return false;
  const { token } = fieldsOf(body);
  const known = (secrets.commandTokens ?? '').split(/[\s,]+/).filter(Boolean);
  if (known.length === 0) return false;
  if (token === undefined) return isOurButton(objectOf(String(body)), secrets.botToken ?? '');
  const given = Buffer.from(token);
  return known.filter((one) => isSame(given, Buffer.from(one))).length > 0;
};

/** What a slash command, an outgoing webhook or a button says. */
export const parseMattermost = (body: Buffer): Inbound => {
  const { user_id = '', user_name, command, trigger_id, post_id, token, ...said } = fieldsOf(body);
  const eventId = trigger_id || post_id;
  const button = token === undefined ? buttonIn(objectOf(String(body))) : null;
  if (button && eventId && ID.test(user_id)) {
    const sender = { id: user_id, name: user_name || user_id };
    return { kind: 'button', sender, ...button, eventId, replyTo: post_id ?? null };
  }
  const text = command ? ofCommand(command, said.text) : ofPost(said);
  if (!ID.test(user_id) || !eventId || text === '') return { kind: 'ignored' };
  return {
    kind: 'message',
    sender: { id: user_id, name: user_name || user_id },
    text,
    eventId,
    replyTo: command ? COMMAND : null,
  };
};

/** Ours: what stands behind the bot's own command is said to it. */
const ofCommand = (command: string, text = ''): string =>
  command === '/adjutant' ? text.trim() || '/help' : `${command} ${text}`.trim();

/** A post without the word that sent it here. */
const ofPost = ({ text = '', trigger_word: word = '' }: Record<string, string>): string =>
  (word !== '' && text.startsWith(word) ? text.slice(word.length) : text).trim();

/** A form, or JSON of the same names; whatever is no text is left out. */
const fieldsOf = (body: Buffer): Record<string, string> => {
  const text = body.toString('utf8');
  const fields = text.trimStart().startsWith('{')
    ? Object.entries(objectOf(text)).map(([name, value]) => [name, asText(value)])
    : [...new URLSearchParams(text)];
  return Object.fromEntries(fields);
};
