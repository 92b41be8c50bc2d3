import { type ButtonChoice, buttonDecision } from './buttonscopes.js';
import { asObject, asText, objectOf } from './call.js';
import type { PlatformFile } from './file.js';
import type {
  Inbound,
  InboundSender,
  MessageEvent,
  PlatformQuestion,
  PlatformSettings,
  QuotedMessage,
} from './platform.js';
import { errorText, tooLate } from './whatsapprefusal.js';

const BUTTON = /^(approve|deny|conversation|host):(\w{1,64}):([0-9a-f]{64})$/;
/** The form of a `wa_id`: the number with its country code, digits only. */
const NUMBER = /^\d{5,20}$/;
/** The form of a business-scoped user ID, which the number of a person with a username may hide behind. */
const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

/**
 * Returns the ID that one of our buttons sends when it is pressed. WhatsApp keeps 256 characters.
 */
export const buttonWhatsapp = (
  { approvalId, digest }: PlatformQuestion,
  choice: ButtonChoice,
): string => `${choice}:${approvalId}:${digest}`;

/**
 * Parses one notification, which may hold several messages and several statuses of our own
 * messages.
 */
export const parseWhatsapp = (body: Buffer, { values }: PlatformSettings): Inbound[] =>
  listOf(objectOf(body.toString('utf8')).entry)
    .flatMap(({ changes }) => listOf(changes))
    .filter(({ field }) => field === 'messages')
    .map(({ value }) => asObject(value))
    .filter(({ metadata }) => isOurs(asObject(metadata), values.phoneNumberId))
    .flatMap((value) => [...messagesOf(value), ...statusesOf(value)]);

/** True if the message is for our number: all numbers of an app post to the app's one address. */
const isOurs = (to: Record<string, unknown>, phoneNumberId: string | undefined): boolean =>
  phoneNumberId === undefined || asText(to.phone_number_id) === phoneNumberId;

/** Returns the objects of a list; none if the value is not a list. */
export const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.map(asObject) : [];

const messagesOf = ({ messages, contacts }: Record<string, unknown>): Inbound[] => {
  const names = new Map(
    listOf(contacts).flatMap((one) => {
      const { name, username } = asObject(one.profile);
      const shown = asText(name) || asText(username);
      return [one.wa_id, one.user_id].map((id) => [asText(id), shown] as const);
    }),
  );
  return listOf(messages).map((message) => {
    const eventId = asText(message.id);
    const ids = idsIn(message.from, message.from_user_id);
    if (eventId === '') return { kind: 'ignored' };
    if (!ids) return { kind: 'ignored', reason: NAMELESS };
    if (message.type === 'system') return movedIn(ids, asObject(message.system));
    const { id, otherId } = ids;
    const name = names.get(id) || names.get(otherId ?? '');
    const shown = name || (NUMBER.test(id) ? `+${id}` : id);
    return said(message, { sender: { ...ids, name: shown }, eventId, replyTo: id });
  });
};

const NAMELESS = 'it contains neither a sender number nor a user ID';

/**
 * Returns the IDs of a person: the number, or the user ID if the number is not told. Either may stand
 * where a number is expected.
 */
const idsIn = (from: unknown, user: unknown): { id: string; otherId?: string } | null => {
  const given = [from, user].map(asText);
  const number = given.find((id) => NUMBER.test(id));
  const userId = given.find((id) => USER_ID.test(id));
  if (number !== undefined) return { id: number, ...(userId !== undefined && { otherId: userId }) };
  return userId === undefined ? null : { id: userId };
};

/** Returns the change of a number; the old one may be given to another person. */
const movedIn = ({ id }: { id: string }, system: Record<string, unknown>): Inbound => {
  const to = idsIn(system.wa_id, system.user_id);
  if (system.type !== 'user_changed_number' || !to) return { kind: 'ignored' };
  return { kind: 'moved', from: id, to };
};

/**
 * Returns the messages that Meta accepted and could not deliver. Ours: a successful delivery is no
 * event.
 */
const statusesOf = ({ statuses }: Record<string, unknown>): Inbound[] =>
  listOf(statuses)
    .filter(({ status }) => status === 'failed')
    .map(({ id, recipient_id, recipient_user_id, errors }) => {
      const [error = {}] = listOf(errors);
      return {
        kind: 'undelivered',
        to: idsIn(recipient_id, recipient_user_id)?.id ?? '',
        receipt: asText(id),
        error: errorText(error),
        ...tooLate(error.code),
      };
    });

/** The field with the text in a message of each type. */
const WORDS: Record<string, string> = {
  text: 'body',
  image: 'caption',
  video: 'caption',
  document: 'caption',
  // A pressed button of a template.
  button: 'text',
};
/** The types that answer nothing and say nothing. */
const SILENT = ['', 'reaction', 'system', 'request_welcome', 'interactive'];

/** The types of messages whose file is kept, and the form of its ID. */
const KEPT = ['image', 'document', 'audio'];
const MEDIA = /^\w{1,100}$/;

const said = (
  message: Record<string, unknown>,
  from: Pick<MessageEvent, 'sender' | 'eventId' | 'replyTo'>,
): Inbound => {
  const pressed = asText(asObject(asObject(message.interactive).button_reply).id);
  const [, choice, approvalId, digest] = BUTTON.exec(pressed) ?? [];
  if (choice && approvalId && digest) {
    return { ...from, kind: 'button', approvalId, digest, ...buttonDecision(choice) };
  }
  const type = asText(message.type);
  const text = asText(asObject(message[type])[WORDS[type] ?? '']).trim();
  const isWordless = text === '' && type !== 'text';
  if (SILENT.includes(type) || (text === '' && !isWordless)) return { kind: 'ignored' };
  const { forwarded, frequently_forwarded: often } = asObject(message.context);
  const isForwarded = forwarded === true || often === true;
  return {
    ...from,
    kind: 'message',
    text,
    ...(isForwarded && { isForwarded }),
    ...(isWordless && { isWordless }),
    ...quotedIn(asObject(message.context), from.sender),
    ...filesIn(type, asObject(message[type])),
  };
};

/** Returns the message that is answered, of which only the ID and the writer are told. */
const quotedIn = (
  { id, from, from_user_id }: Record<string, unknown>,
  sender: InboundSender,
): { quoted?: QuotedMessage } => {
  const receipt = asText(id);
  if (receipt === '') return {};
  const writer = idsIn(from, from_user_id)?.id;
  const isOwn = writer !== undefined && [sender.id, sender.otherId].includes(writer);
  return { quoted: { text: '', ...(isOwn ? { by: 'sender' } : { receipt }) } };
};

/** Returns the file of a document, a picture or a voice message. Its size is told by the API alone. */
const filesIn = (
  type: string,
  { id, filename }: Record<string, unknown>,
): { files?: PlatformFile[] } => {
  const ref = asText(id);
  if (!KEPT.includes(type) || !MEDIA.test(ref)) return {};
  const isVoice = type === 'audio' && { isVoice: true as const, name: 'voice message' };
  return { files: [{ name: asText(filename) || null, bytes: null, ref, ...isVoice }] };
};
