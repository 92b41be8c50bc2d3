import { type ButtonChoice, buttonDecision } from './buttonscopes.js';
import { asObject, asText, parseJsonObject } from './call.js';
import type {
  Inbound,
  InboundSender,
  MessageEvent,
  PlatformFile,
  PlatformQuestion,
  PlatformSettings,
  QuotedMessage,
} from './platform.js';
import { errorText, lateErrorFlag } from './whatsapprefusal.js';

const BUTTON = /^(approve|deny|conversation|host):(\w{1,64}):([0-9a-f]{64})$/;
/** `wa_id`: country code and number, digits only. */
const NUMBER = /^\d{5,20}$/;
/** Business-scoped user id of a person with a username. */
const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

/** WhatsApp stores 256 characters. */
export const buttonWhatsapp = (
  { approvalId, digest }: PlatformQuestion,
  choice: ButtonChoice,
): string => `${choice}:${approvalId}:${digest}`;

export const parseWhatsapp = (body: Buffer, { values }: PlatformSettings): Inbound[] =>
  toObjectList(parseJsonObject(body.toString('utf8')).entry)
    .flatMap(({ changes }) => toObjectList(changes))
    .filter(({ field }) => field === 'messages')
    .map(({ value }) => asObject(value))
    .filter(({ metadata }) => isOurs(asObject(metadata), values.phoneNumberId))
    .flatMap((value) => [...parseMessages(value), ...parseFailedStatuses(value)]);

/** All numbers of an app use one webhook URL. */
const isOurs = (to: Record<string, unknown>, phoneNumberId: string | undefined): boolean =>
  phoneNumberId === undefined || asText(to.phone_number_id) === phoneNumberId;

export const toObjectList = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.map(asObject) : [];

const parseMessages = ({ messages, contacts }: Record<string, unknown>): Inbound[] => {
  const names = new Map(
    toObjectList(contacts).flatMap((one) => {
      const { name, username } = asObject(one.profile);
      const shown = asText(name) || asText(username);
      return [one.wa_id, one.user_id].map((id) => [asText(id), shown] as const);
    }),
  );
  return toObjectList(messages).map((message) => {
    const eventId = asText(message.id);
    const ids = idsIn(message.from, message.from_user_id);
    if (eventId === '') return { kind: 'ignored' };
    if (!ids) return { kind: 'ignored', reason: NAMELESS };
    if (message.type === 'system') return movedIn(ids, asObject(message.system));
    const { id, otherId } = ids;
    const name = names.get(id) || names.get(otherId ?? '');
    const shown = name || (NUMBER.test(id) ? `+${id}` : id);
    return messageFrom(message, { sender: { ...ids, name: shown }, eventId, replyTo: id });
  });
};

const NAMELESS = 'it contains neither a sender number nor a user ID';

/** The number, or the user id if the number is hidden. Either may be in the place of a number. */
const idsIn = (from: unknown, user: unknown): { id: string; otherId?: string } | null => {
  const input = [from, user].map(asText);
  const number = input.find((id) => NUMBER.test(id));
  const userId = input.find((id) => USER_ID.test(id));
  if (number !== undefined) return { id: number, ...(userId !== undefined && { otherId: userId }) };
  return userId === undefined ? null : { id: userId };
};

/** The old number may be given to another person. */
const movedIn = ({ id }: { id: string }, system: Record<string, unknown>): Inbound => {
  const to = idsIn(system.wa_id, system.user_id);
  if (system.type !== 'user_changed_number' || !to) return { kind: 'ignored' };
  return { kind: 'moved', from: id, to };
};

/** Accepted but undeliverable messages. Successful deliveries are not events. */
const parseFailedStatuses = ({ statuses }: Record<string, unknown>): Inbound[] =>
  toObjectList(statuses)
    .filter(({ status }) => status === 'failed')
    .map(({ id, recipient_id, recipient_user_id, errors }) => {
      const [error = {}] = toObjectList(errors);
      return {
        kind: 'undelivered',
        to: idsIn(recipient_id, recipient_user_id)?.id ?? '',
        receipt: asText(id),
        error: errorText(error),
        ...lateErrorFlag(error.code),
      };
    });

/** Text field by message type. */
const WORDS: Record<string, string> = {
  text: 'body',
  image: 'caption',
  video: 'caption',
  document: 'caption',
  // A button of a template.
  button: 'text',
};

/** Types without a reply. */
const IGNORED_TYPES = ['', 'reaction', 'system', 'request_welcome', 'interactive'];

/** Types whose file is stored. */
const FILE_TYPES = ['image', 'document', 'audio'];
const MEDIA = /^\w{1,100}$/;

const messageFrom = (
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
  const hasNoText = text === '' && type !== 'text';
  if (IGNORED_TYPES.includes(type) || (text === '' && !hasNoText)) return { kind: 'ignored' };
  const { forwarded, frequently_forwarded: often } = asObject(message.context);
  const isForwarded = forwarded === true || often === true;
  return {
    ...from,
    kind: 'message',
    text,
    ...(isForwarded && { isForwarded }),
    ...(hasNoText && { hasNoText }),
    ...quotedIn(asObject(message.context), from.sender),
    ...filesIn(type, asObject(message[type])),
  };
};

/** Only its id and writer are known. */
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

/** Only the API reports the size. */
const filesIn = (
  type: string,
  { id, filename }: Record<string, unknown>,
): { files?: PlatformFile[] } => {
  const ref = asText(id);
  if (!FILE_TYPES.includes(type) || !MEDIA.test(ref)) return {};
  const isVoice = type === 'audio' && { isVoice: true as const, name: 'voice message' };
  return { files: [{ name: asText(filename) || null, bytes: null, ref, ...isVoice }] };
};
