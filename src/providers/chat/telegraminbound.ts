import { buttonCodes } from './buttoncodes.js';
import { asObject, asText, parseJsonObject } from './call.js';
import type { Inbound, PlatformFile, QuotedMessage } from './platform.js';

const IGNORED = { kind: 'ignored' } as const;
/** A button has at most 64 bytes: a letter, an id, and 24 digits of the digest. */
export const telegramButtons = buttonCodes(24);

export const replyPlace = (replyTo: string | null) => {
  const [chat_id = '', message_id = '', callback_query_id = ''] = (replyTo ?? '').split(':');
  return { chat_id, message_id: Number(message_id), callback_query_id };
};

export const parseTelegram = (body: Buffer): Inbound => {
  const update = parseJsonObject(body.toString('utf8'));
  const eventId = parseId(update.update_id);
  if (!eventId) return IGNORED;
  if (update.callback_query !== undefined)
    return ofButton(asObject(update.callback_query), eventId);
  return ofMessage(asObject(update.message), eventId);
};

/** Text of other people: forwarded, or inserted by an inline bot. */
const FORWARD_FIELDS = ['forward_origin', 'forward_date', 'via_bot'];

/** Content types other than text (Bot API, Message); some can have a caption. */
const NON_TEXT_FIELDS = [
  ...['photo', 'voice', 'audio', 'video', 'video_note', 'animation', 'sticker', 'document'],
  ...['contact', 'location', 'venue', 'poll', 'dice', 'story', 'paid_media'],
];

const ofMessage = (message: Record<string, unknown>, eventId: string): Inbound => {
  const chat = asObject(message.chat);
  const sender = parseSender(message.from);
  const typed = asText(message.text) || asText(message.caption);
  const isCut = typed.length >= MAX_MESSAGE_LENGTH;
  const text = isCut ? typed : typed.trim();
  const hasNoText = text === '' && NON_TEXT_FIELDS.some((key) => message[key] !== undefined);
  // Telegram's examples omit the type; a private chat has the id of its user.
  const isPrivate = (chat.type ?? (parseId(chat.id) === sender?.id && 'private')) === 'private';
  if (!sender || (text === '' && !hasNoText)) return IGNORED;
  if (!isPrivate) return text === '' ? IGNORED : { kind: 'ignored', reason: IN_GROUP };
  return {
    kind: 'message',
    sender,
    text: normalizeCommand(text),
    eventId,
    replyTo: `${parseId(chat.id)}:${parseId(message.message_id)}`,
    ...(FORWARD_FIELDS.some((key) => message[key] !== undefined) && { isForwarded: true }),
    ...(hasNoText && { hasNoText }),
    ...(isCut && { isCut }),
    ...quotedIn(message, sender.id),
    ...filesIn(message),
  };
};

/** Telegram apps split longer texts into several messages. */
const MAX_MESSAGE_LENGTH = 4096;
const IN_GROUP = 'it was sent in a group or channel. Only private chats with the bot are supported';

const quotedIn = (
  message: Record<string, unknown>,
  senderId: string,
): { quoted?: QuotedMessage } => {
  const chosen = asText(asObject(message.quote).text);
  const before = asObject(message.reply_to_message);
  const text = chosen || asText(before.text) || asText(before.caption);
  if (message.reply_to_message === undefined || message.external_reply !== undefined)
    return chosen === '' ? {} : { quoted: { text: chosen, by: 'other' } };
  const from = asObject(before.from);
  if (FORWARD_FIELDS.some((key) => before[key] !== undefined))
    return { quoted: { text, by: 'other' } };
  // In a private chat the only bot is the daemon's.
  if (from.is_bot === true)
    return { quoted: { text, by: 'daemon', receipt: parseId(before.message_id) } };
  return { quoted: { text, by: parseId(from.id) === senderId ? 'sender' : 'other' } };
};

/** An animation is also sent as a document, for older bots. */
const filesIn = (message: Record<string, unknown>): { files?: PlatformFile[] } => {
  if (message.animation !== undefined) return {};
  const document = parseFile(message.document, '');
  const voice = [message.voice, message.audio, message.video_note].map((input) =>
    parseFile(input, 'voice message'),
  );
  const photo = pickLargestPhoto(message.photo).map((size) =>
    parseFile(size, photoName(message.date)),
  );
  const spoken = voice.flatMap((file) => (file ? [{ ...file, isVoice: true as const }] : []));
  const files = [document, ...photo, ...spoken].filter((file) => file !== null);
  return files.length > 0 ? { files } : {};
};

const pickLargestPhoto = (photo: unknown): unknown[] => {
  const sizes = Array.isArray(photo) ? photo.map(asObject) : [];
  const area = ({ width, height }: Record<string, unknown>) => Number(width) * Number(height) || 0;
  return sizes.sort((a, b) => area(b) - area(a)).slice(0, 1);
};

const parseFile = (input: unknown, name: string): PlatformFile | null => {
  const { file_id, file_name, file_size } = asObject(input);
  const ref = asText(file_id);
  if (ref === '') return null;
  const bytes = typeof file_size === 'number' ? file_size : null;
  return { name: asText(file_name) || name || null, bytes, ref };
};

/** Named after its time. */
const photoName = (date: unknown): string => {
  const at = new Date(Number(date) * 1000);
  const time = Number.isNaN(at.getTime()) ? '' : ` ${at.toISOString().slice(0, 19)}`;
  return `photo${time.replaceAll(':', '-').replace('T', ' ')}.jpg`;
};

const ofButton = (query: Record<string, unknown>, eventId: string): Inbound => {
  const message = asObject(query.message);
  const sender = parseSender(query.from);
  const decision = telegramButtons.read(asText(query.data));
  if (!sender || !decision) return IGNORED;
  const replyTo = [asObject(message.chat).id, message.message_id, query.id].map(parseId).join(':');
  return { kind: 'button', sender, ...decision, eventId, replyTo };
};

const parseSender = (from: unknown): { id: string; name: string } | null => {
  const { id, is_bot, first_name, last_name, username } = asObject(from);
  if (!parseId(id) || is_bot === true) return null;
  const called = [first_name, last_name].map(asText).filter(Boolean).join(' ');
  const at = asText(username) && `@${asText(username)}`;
  return { id: parseId(id), name: [called, at].filter(Boolean).join(' ') };
};

/**
 * `/link@bot K7MPXA` becomes `/link K7MPXA`, and so does `/start K7MPXA`, since a bot link can
 * contain the code.
 */
const normalizeCommand = (text: string): string =>
  text.replace(/^(\/\w+)@\w+/, '$1').replace(/^\/start(?=\s+\S)/, '/link');

const parseId = (id: unknown): string =>
  typeof id === 'number' || typeof id === 'string' ? String(id) : '';
