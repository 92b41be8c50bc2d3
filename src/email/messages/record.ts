import { createHash, randomBytes } from 'node:crypto';
import type { FetchMessageObject, MessageAddressObject, MessageEnvelopeObject } from 'imapflow';
import { iso } from '../../kernel/clock.js';
import { HOPS_HEADER, hopsIn } from '../../kernel/hops.js';
import { timeDigits } from '../../kernel/ids.js';
import {
  authenticationIn,
  type HeaderField,
  parseHeaderFields,
} from '../../providers/mail/authentication.js';
import { sortMail } from '../../providers/mail/sort.js';
import { collectMailParts } from '../../providers/mail/structure.js';
import type { MailAccountRow, MailAddress, MailMessageRow } from '../../store/tables/mail.js';

const HEADER_FIELDS = new Set([
  ...['authentication-results', 'received', 'references', 'in-reply-to', 'list-unsubscribe'],
  ...['list-id', 'precedence', 'auto-submitted', 'x-priority', 'importance', 'x-spam-flag'],
  ...['date', 'from', 'to', 'subject', HOPS_HEADER],
]);

export const HEADER_BYTES = 128 * 1024;

export interface MailHeader {
  /** Raw header, one character per byte. */
  text: string;
  fields: HeaderField[];
}

export const parseMailHeader = ({ headers }: FetchMessageObject): MailHeader => {
  let text = '';
  let isRead = false;
  const all = headers?.subarray(0, HEADER_BYTES).toString('latin1') ?? '';
  for (const line of all.split(/(?<=\n)/)) {
    if (!/^[ \t]/.test(line)) {
      const name = line.slice(0, line.indexOf(':') + 1).slice(0, -1);
      isRead = HEADER_FIELDS.has(name.trimEnd().toLowerCase()) || line.trim() === '';
    }
    if (isRead) text += line;
  }
  return { text, fields: parseHeaderFields(Buffer.from(text, 'latin1').toString('utf8')) };
};

export interface FetchedMail {
  account: MailAccountRow;
  folder: string;
  uidValidity: string;
  message: FetchMessageObject;
  header: MailHeader;
  snippet: string;
  /** null if none of the referenced messages is known. */
  thread: string | null;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const UID_DIGITS = 7;
const RANDOM_DIGITS = 9;

/** Sorted by arrival, then by UID, whenever it is created. */
const idAt = (ms: number, uid: number): string => {
  let digits = '';
  for (let rest = uid; digits.length < UID_DIGITS; rest = Math.floor(rest / 32)) {
    digits = ALPHABET[rest % 32] + digits;
  }
  const random = Array.from(randomBytes(RANDOM_DIGITS), (byte) => ALPHABET[byte & 31]);
  return `mail_${timeDigits(ms)}${digits}${random.join('')}`;
};

export const firstIdAt = (ms: number): string => `mail_${timeDigits(ms)}`;

const MAX_ADDRESSES = 1000;
const MAX_REFERENCES = 200;

const toMailAddresses = (input: MessageAddressObject[] | undefined): MailAddress[] =>
  (input ?? []).slice(0, MAX_ADDRESSES).map(({ name, address }) => ({
    name: oneLine(name, 300),
    address: oneLine(address, 320),
  }));

/** Also removes characters that change the text direction. */
const oneLine = (text: string | undefined, most: number): string =>
  (text ?? '')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, most)
    // After cutting: half of a surrogate pair, which the database would change.
    .replace(/\p{Cs}/gu, '')
    .trimEnd();

const parseMessageId = ({ envelope }: FetchMessageObject): string | null =>
  oneLine(envelope?.messageId, 900) || null;

const toSnippet = (text: string): string => oneLine(text, 200);

/** Oldest first. */
export const referencesIn = (fields: HeaderField[]): string[] => {
  const idsIn = (name: string): string[] =>
    fields.flatMap((field) =>
      field.name === name ? (field.value.match(/<[^<>\s]{1,900}>/g) ?? []) : [],
    );
  return [...new Set([...idsIn('references'), ...idsIn('in-reply-to')])].slice(-MAX_REFERENCES);
};

export const buildMailRecord = (fetched: FetchedMail): MailMessageRow => {
  const { account, message, snippet } = fetched;
  const { envelope, flags = new Set() } = message;
  const { fields } = fetched.header;
  const refs = referencesIn(fields);
  const arrivedAt = arrivalTime(message) ?? 0;
  const id = idAt(arrivedAt, message.uid);
  const messageId = parseMessageId(message);
  const from = toMailAddresses(envelope?.from)[0]?.address ?? '';
  const subject = oneLine(envelope?.subject, 1000);
  const { files, ...parts } = collectMailParts(message.bodyStructure);
  const field = (name: string): string | null =>
    fields.find((each) => each.name === name)?.value ?? null;
  const facts = { subject, from, own: account.address, snippet, files };
  return {
    id,
    user_id: account.user_id,
    account_id: account.id,
    folder: fetched.folder,
    uid_validity: fetched.uidValidity,
    uid: message.uid,
    message_id: messageId,
    thread_id: fetched.thread ?? threadId(account.id, refs[0] ?? messageId ?? id),
    refs: JSON.stringify(refs),
    ...participantColumns(envelope),
    subject,
    date: iso(pickMailDate(envelope?.date, arrivedAt)),
    snippet: toSnippet(snippet),
    unread: flags.has('\\Seen') ? 0 : 1,
    flagged: flags.has('\\Flagged') ? 1 : 0,
    parts: JSON.stringify(parts),
    attachments: JSON.stringify(files),
    list_unsubscribe: field('list-unsubscribe')?.slice(0, 1000) ?? null,
    ...sortMail({ ...facts, field, isReply: refs.length > 0 }),
    authentication: parseAuthenticationResults(fetched, envelope?.from?.length === 1 ? from : ''),
    ...ledgerColumns(fetched, field),
  };
};

const parseAuthenticationResults = (
  { account, header }: FetchedMail,
  from: string,
): string | null => {
  const isSingle = header.fields.filter(({ name }) => name === 'from').length === 1;
  const sender = { authservId: account.authserv_id, from: isSingle ? from : '' };
  const found = authenticationIn(header.fields, sender);
  return found && JSON.stringify(found);
};

const ledgerColumns = (fetched: FetchedMail, field: (name: string) => string | null) => ({
  size: fetched.message.size ?? 0,
  identity: computeMailIdentity(fetched),
  hops: hopsIn({ [HOPS_HEADER]: field(HOPS_HEADER) }),
  arrived_ms: arrivalTime(fetched.message),
  processed_at: null,
  automatic: isAutomatic(field('auto-submitted')) ? (1 as const) : (0 as const),
});

/** `Auto-Submitted` (RFC 3834, section 5). */
const isAutomatic = (value: string | null): boolean => value !== null && !/^\s*no\b/i.test(value);

type IdentifiedMail = Pick<FetchedMail, 'message' | 'header'>;

/** Fields that no server changes later. The digests are stored, so the list must stay the same. */
const IDENTITY_FIELDS = new Set([
  ...['received', 'date', 'from', 'to', 'subject', 'references', 'in-reply-to'],
]);

const digestOf = (facts: string): string => createHash('sha256').update(facts).digest('base64url');

const hasField = ({ fields }: MailHeader, ...names: string[]): boolean =>
  fields.some(({ name }) => names.includes(name));

/**
 * Digest of Message-ID and header, independent of the folder, and of the size, which some servers
 * only estimate. A third party can guess a Message-ID, but not the `Received` fields added by
 * servers. Messages without such a field also use the first words, and messages without Message-ID
 * and time the arrival.
 */
const computeMailIdentity = ({
  message,
  header,
  snippet,
}: IdentifiedMail & Pick<FetchedMail, 'snippet'>): string => {
  const messageId = parseMessageId(message);
  const isTimed = messageId !== null || hasField(header, 'date', 'received');
  const facts = [
    messageId,
    isTimed ? null : arrivalTime(message),
    hasField(header, 'received') ? null : toSnippet(snippet),
    ...header.fields.flatMap(({ name, value }) =>
      IDENTITY_FIELDS.has(name) ? [`${name}: ${value.replace(/\s+/g, ' ')}`] : [],
    ),
  ];
  return `digest:${digestOf(JSON.stringify(facts))}`;
};

/** As stored by earlier versions: changes with the size. */
export const computeSizedIdentity = ({ message, header }: IdentifiedMail, size: number): string => {
  const messageId = parseMessageId(message);
  if (messageId !== null) return `message:${digestOf(`${messageId} ${size} ${header.text}`)}`;
  const isTimed = hasField(header, 'date', 'received');
  return `header:${digestOf(`${size} ${isTimed ? '' : arrivalTime(message)} ${header.text}`)}`;
};

/** Prefix of identities that count only together with the size. */
export const MESSAGE_ID_ONLY = 'id:';

/** The oldest rows are identified by their Message-ID only. */
export const listMailIdentities = ({
  identity,
  message_id,
}: Pick<MailMessageRow, 'identity' | 'message_id'>): string[] =>
  message_id === null ? [identity] : [identity, `${MESSAGE_ID_ONLY}${message_id}`];

/** Matches stored and processed messages. `earlier`: its identities in earlier versions. */
export const createMailMatcher = (
  row: Pick<MailMessageRow, 'identity' | 'message_id' | 'size'>,
  earlier: string[] = [],
): ((known: Pick<MailMessageRow, 'identity' | 'size'>) => boolean) => {
  const own = new Set([...listMailIdentities(row), ...earlier]);
  return ({ identity, size }) =>
    own.has(identity) && (size === row.size || !identity.startsWith(MESSAGE_ID_ONLY));
};

/** Whether what the server returns for the UID of a stored message is that message. */
export const isStoredMail = (row: MailMessageRow, found: IdentifiedMail): boolean => {
  const messageId = parseMessageId(found.message);
  if (messageId !== null || row.message_id !== null) return messageId === row.message_id;
  const { snippet, size, identity } = row;
  return [computeMailIdentity({ ...found, snippet }), computeSizedIdentity(found, size)].includes(
    identity,
  );
};

const participantColumns = (envelope: MessageEnvelopeObject | undefined) => {
  const [sender = null] = toMailAddresses(envelope?.from);
  return {
    sender: sender && JSON.stringify(sender),
    reply_to: JSON.stringify(toMailAddresses(envelope?.replyTo).slice(0, 50)),
    recipients: JSON.stringify(toMailAddresses(envelope?.to)),
    cc: JSON.stringify(toMailAddresses(envelope?.cc)),
  };
};

const threadId = (accountId: string, root: string): string =>
  `thread_${createHash('sha256').update(`${accountId} ${root}`).digest('hex').slice(0, 26)}`;

export const arrivalTime = ({ internalDate }: FetchMessageObject): number | null =>
  parseTimestamp(internalDate);

const parseTimestamp = (date: Date | string | undefined): number | null => {
  const ms = date === undefined ? Number.NaN : new Date(date).getTime();
  return ms >= 0 && ms < LAST_MS ? ms : null;
};

const DAY_MS = 86_400_000;
/** Later times have more digits and are ignored. */
const LAST_MS = Date.UTC(9999, 0);

/** The arrival if the sender stated none, or a future one. */
const pickMailDate = (date: Date | string | undefined, arrivedAt: number): number => {
  const sentAt = parseTimestamp(date);
  return sentAt === null || sentAt > arrivedAt + DAY_MS ? arrivedAt : sentAt;
};
