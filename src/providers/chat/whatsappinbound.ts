import { type ButtonChoice, buttonDecision } from './buttonscopes.js';
import { asObject, asText, objectOf } from './call.js';
import type { PlatformFile } from './file.js';
import type { Inbound, MessageEvent, PlatformQuestion, PlatformSettings } from './platform.js';
import { errorText, tooLate } from './whatsapprefusal.js';

const BUTTON = /^(approve|deny|conversation|host):(\w{1,64}):([0-9a-f]{64})$/;
/** The form of a `wa_id`: the number with its country code, digits only. */
const NUMBER = /^\d{5,20}$/;

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
    listOf(contacts).map((one) => [asText(one.wa_id), asText(asObject(one.profile).name)]),
  );
  return listOf(messages).map((message) => {
    const id = asText(message.from);
    const eventId = asText(message.id);
    if (!NUMBER.test(id) || eventId === '') return { kind: 'ignored' };
    return said(message, { sender: { id, name: names.get(id) || `+${id}` }, eventId, replyTo: id });
  });
};

/**
 * Returns the messages that Meta accepted and could not deliver. Ours: a successful delivery is no
 * event.
 */
const statusesOf = ({ statuses }: Record<string, unknown>): Inbound[] =>
  listOf(statuses)
    .filter(({ status }) => status === 'failed')
    .map(({ id, recipient_id, errors }) => {
      const [error = {}] = listOf(errors);
      return {
        kind: 'undelivered',
        to: asText(recipient_id),
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
};
const WORDLESS = ['image', 'video', 'document', 'audio', 'sticker', 'location', 'contacts'];

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
  const isWordless = text === '' && WORDLESS.includes(type);
  if (text === '' && !isWordless) return { kind: 'ignored' };
  const { forwarded, frequently_forwarded: often } = asObject(message.context);
  const isForwarded = forwarded === true || often === true;
  return {
    ...from,
    kind: 'message',
    text,
    ...(isForwarded && { isForwarded }),
    ...(isWordless && { isWordless }),
    ...filesIn(type, asObject(message[type])),
  };
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
