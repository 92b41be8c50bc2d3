import { LARGE_JSON_BYTES } from '../../kernel/json.js';
import { isSame } from '../../kernel/signature.js';
import { asText, parseJsonObject } from './call.js';
import { buttonIn, isOurButton } from './mattermostbuttons.js';
import type { Inbound, PlatformFile, PlatformSettings } from './platform.js';

/** `replyTo` of a slash command, whose reply only the sender sees. */
export const COMMAND = 'command';

const ID = /^[a-z0-9]{26}$/;

/**
 * Compared in constant time. A body without a token must be one of our buttons. False while no
 * token is set.
 */
export const isMattermosts = (body: Buffer, secrets: PlatformSettings['secrets']): boolean => {
  // Parsed before verification; no real request is that large.
  if (body.length > LARGE_JSON_BYTES) return false;
  const { token } = parseBodyFields(body);
  const known = (secrets.commandTokens ?? '').split(/[\s,]+/).filter(Boolean);
  if (known.length === 0) return false;
  if (token === undefined)
    return isOurButton(parseJsonObject(String(body)), secrets.botToken ?? '');
  const input = Buffer.from(token);
  return known.filter((one) => isSame(input, Buffer.from(one))).length > 0;
};

export const parseMattermost = (body: Buffer): Inbound => {
  const {
    user_id = '',
    user_name,
    command,
    trigger_id,
    post_id,
    token,
    ...said
  } = parseBodyFields(body);
  const eventId = trigger_id || post_id;
  const button = token === undefined ? buttonIn(parseJsonObject(String(body))) : null;
  if (button && eventId && ID.test(user_id)) {
    const sender = { id: user_id, name: user_name || user_id };
    return { kind: 'button', sender, ...button, eventId, replyTo: post_id ?? null };
  }
  const text = command ? ofCommand(command, said.text) : ofPost(said);
  const files = command ? [] : filesIn(said.file_ids);
  const hasNoText = text === '' && files.length > 0;
  if (eventId && !ID.test(user_id)) return { kind: 'ignored', reason: 'it contains no user id' };
  if (!eventId || !(text || hasNoText)) return { kind: 'ignored' };
  return {
    kind: 'message',
    sender: { id: user_id, name: user_name || user_id },
    text,
    eventId,
    replyTo: command ? COMMAND : null,
    ...(hasNoText && { hasNoText }),
    ...(files.length > 0 && { files }),
  };
};

const filesIn = (ids = ''): PlatformFile[] =>
  ids
    .split(',')
    .filter((id) => ID.test(id))
    .map((ref) => ({ name: null, bytes: null, ref }));

/** Text after the bot's own command is a message to the bot. */
const ofCommand = (command: string, text = ''): string =>
  command === '/adjutant' ? text.trim() || '/help' : `${command} ${text}`.trim();

const ofPost = ({ text = '', trigger_word: word = '' }: Record<string, string>): string =>
  (word !== '' && text.startsWith(word) ? text.slice(word.length) : text).trim();

/** A form, or JSON with the same names; other values become empty. */
const parseBodyFields = (body: Buffer): Record<string, string> => {
  const text = body.toString('utf8');
  const fields = text.trimStart().startsWith('{')
    ? Object.entries(parseJsonObject(text)).map(([name, value]) => [name, asText(value)])
    : [...new URLSearchParams(text)];
  return Object.fromEntries(fields);
};
