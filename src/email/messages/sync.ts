import type { FetchMessageObject, FetchQueryObject, SearchObject } from 'imapflow';
import type { Clock } from '../../kernel/clock.js';
import { combineTexts, MAX_HINT_LENGTH } from '../../providers/mail/combinetexts.js';
import { FolderMissing, isCommandRefused, MailFault } from '../../providers/mail/fault.js';
import type { ImapSession } from '../../providers/mail/imap.js';
import { textOfHtml } from '../../providers/mail/safehtml.js';
import {
  collectMailParts,
  decodedPart,
  type MailTextParts,
} from '../../providers/mail/structure.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { MailAccountRow, MailMessageRow } from '../../store/tables/mail.js';
import type { KnownMessage, MailMessagesStore } from './queries.js';
import {
  arrivalTime,
  buildMailRecord,
  computeSizedIdentity,
  createMailMatcher,
  type FetchedMail,
  firstIdAt,
  HEADER_BYTES,
  isStoredMail,
  parseMailHeader,
  referencesIn,
} from './record.js';

export interface MailSyncDeps {
  clock: Clock;
  messages: MailMessagesStore;
}

export interface OpenFolder {
  session: ImapSession;
  account: MailAccountRow;
  folder: string;
  uidValidity: string;
}

const DAY_MS = 86_400_000;
/** Messages per command. */
const STEP = 200;
/** Smaller with headers, to limit memory for hostile messages. */
const HEADERS_STEP = 50;
const SNIPPET_BYTES = 4096;
const FACTS = { uid: true, flags: true, size: true, internalDate: true };
// Requested as a part, since a part can be limited.
const HEADER = [{ key: 'HEADER', start: 0, maxLength: HEADER_BYTES }];
const IDENTITY = { uid: true, internalDate: true, envelope: true, bodyParts: HEADER };
const HEADERS = { ...FACTS, ...IDENTITY, bodyStructure: true };

/** Opened read-only (EXAMINE): no flag can be set. */
export const inFolder = async <T>(
  session: ImapSession,
  { account, folder }: { account: MailAccountRow; folder: string },
  work: (opened: OpenFolder) => Promise<T>,
): Promise<T> => {
  const lock = await session.getMailboxLock(folder, { readOnly: true }).catch((error) => {
    const isMissing = Object.assign({ mailboxMissing: false }, error).mailboxMissing === true;
    const own: string[] = JSON.parse(account.folders);
    if (!isMissing || own.includes(folder)) throw error;
    throw new FolderMissing(JSON.parse(account.imap).host, folder);
  });
  try {
    const { mailbox } = session;
    const uidValidity = mailbox ? String(mailbox.uidValidity) : '';
    return await work({ session, account, folder, uidValidity });
  } finally {
    lock.release();
  }
};

export const syncFolder = async (deps: MailSyncDeps, opened: OpenFolder): Promise<void> => {
  const { session, account, folder, uidValidity } = opened;
  const since = deps.clock.now() - account.sync_days * DAY_MS;
  const uids = await searchMailFolder(opened, { since: new Date(since) });
  const present = new Set(uids);
  const all = await deps.messages.known(account.id, folder);
  const isHere = ({ uid, uid_validity }: KnownMessage): boolean =>
    uid_validity === uidValidity && present.has(uid);
  const { same, others, flags } = await compare(deps, session, all.filter(isHere));
  const former = all.filter((row) => row.uid_validity !== uidValidity).concat(others);
  const have = new Set(same.map(({ uid }) => uid));
  await addMessages(deps, opened, { uids: uids.filter((uid) => !have.has(uid)), former });
  // Older messages were found by a search, which finds them again.
  const isGone = (row: KnownMessage): boolean =>
    row.uid_validity === uidValidity && !present.has(row.uid) && row.id >= firstIdAt(since);
  const gone = [...former, ...all.filter(isGone)];
  await deps.messages.write([...gone.map(({ id }) => deps.messages.deletion(id)), ...flags]);
};

/** A rejected search throws MailFault; it is not an empty result. */
export const searchMailFolder = async (
  { session, account }: OpenFolder,
  criteria: SearchObject,
): Promise<number[]> => {
  const uids = await session.search(criteria, { uid: true });
  if (!uids) throw new MailFault('server', JSON.parse(account.imap).host, 'failed command: SEARCH');
  return [...new Set(uids)];
};

/**
 * A restored server may reuse a UID: size or arrival then differ. Such rows are set aside until
 * their headers are compared, since some servers report another size for the same message.
 */
const compare = async (
  { messages }: MailSyncDeps,
  session: ImapSession,
  known: KnownMessage[],
): Promise<{ same: KnownMessage[]; others: KnownMessage[]; flags: TransactionStep[] }> => {
  const byUid = new Map(known.map((row) => [row.uid, row]));
  const others = new Set<KnownMessage>();
  const flags: TransactionStep[] = [];
  for (const facts of await fetchAll(session, [...byUid.keys()], FACTS, toComparedFacts)) {
    const row = byUid.get(facts.uid);
    if (!row) continue;
    if (isOther(row, facts)) others.add(row);
    else flags.push(...flagSteps(messages, row, facts));
  }
  await messages.write([...others].map((row) => setAside(messages, row)));
  return { same: known.filter((row) => !others.has(row)), others: [...others], flags };
};

/** Under a validity of its own, until the next synchronization. */
const setAside = (messages: MailMessagesStore, { id }: { id: string }): TransactionStep =>
  messages.change(id, { uid_validity: `former ${id}` });

interface ComparedFacts {
  uid: number;
  size: number | undefined;
  arrival: number | null;
  /** undefined: not reported. */
  flags: { unread: 0 | 1; flagged: 0 | 1 } | undefined;
}

/** Drops other data of the server. */
const toComparedFacts = (message: FetchMessageObject): ComparedFacts => ({
  uid: message.uid,
  size: message.size,
  arrival: arrivalTime(message),
  flags: message.flags && {
    unread: message.flags.has('\\Seen') ? 0 : 1,
    flagged: message.flags.has('\\Flagged') ? 1 : 0,
  },
});

const isOther = (row: KnownMessage, { size, arrival }: ComparedFacts): boolean => {
  const isLater = row.arrived_ms !== null && arrival !== null && arrival !== row.arrived_ms;
  return isLater || (size !== undefined && size !== row.size);
};

const flagSteps = (
  messages: MailMessagesStore,
  row: KnownMessage,
  { flags }: ComparedFacts,
): TransactionStep[] => {
  if (!flags) return [];
  const isSame = row.unread === flags.unread && row.flagged === flags.flagged;
  return isSame ? [] : [messages.change(row.id, flags)];
};

/** A message known under another UID or validity keeps its id. */
export const addMessages = async (
  deps: MailSyncDeps,
  opened: OpenFolder,
  { uids, former = [] }: { uids: number[]; former?: KnownMessage[] },
): Promise<void> => {
  const { session, ...place } = opened;
  for (let at = 0; at < uids.length; at += HEADERS_STEP) {
    const some = uids.slice(at, at + HEADERS_STEP);
    const fetched = await fetchAll(session, some, HEADERS, parseArrivedHeader);
    const snippets = await fetchBeginnings(session, partsByUid(fetched), SNIPPET_BYTES);
    const steps = [];
    for (const { message, header } of fetched) {
      const thread = await deps.messages.threadOf(place.account.id, referencesIn(header.fields));
      const snippet = snippets.get(message.uid) ?? '';
      const row = buildMailRecord({ ...place, message, header, snippet, thread });
      const before = takeFormerMessage(former, row, { message, header });
      if (before) {
        const { uid, uid_validity, unread, flagged, arrived_ms, identity, size } = row;
        const changes = { uid, uid_validity, unread, flagged, arrived_ms, identity, size };
        steps.push(deps.messages.change(before.id, changes));
        continue;
      }
      // Recorded by an earlier version.
      const sized = computeSizedIdentity({ message, header }, row.size);
      const isRecorded = await deps.messages.isProcessed(row.account_id, sized);
      steps.push(deps.messages.insertion(isRecorded ? { ...row, identity: sized } : row));
    }
    await deps.messages.write(steps);
  }
};

/** Frees the raw bytes. */
const parseArrivedHeader = ({ headers, ...message }: FetchMessageObject) => ({
  message,
  header: parseMailHeader({ ...message, ...(headers && { headers }) }),
});

const takeFormerMessage = (
  former: KnownMessage[],
  row: MailMessageRow,
  fetched: Pick<FetchedMail, 'message' | 'header'>,
): KnownMessage | undefined => {
  if (former.length === 0) return undefined;
  const sizes = former.flatMap(({ uid, size }) => (uid === row.uid ? [size] : []));
  const sized = [row.size, ...sizes].map((size) => computeSizedIdentity(fetched, size));
  const at = former.findIndex(createMailMatcher(row, sized));
  return at === -1 ? undefined : former.splice(at, 1)[0];
};

/**
 * `renumbered`: its UID is invalid, or belongs to another message, which must not be shown in its
 * place. The next synchronization finds it again.
 */
export const locateMessage = async (
  { messages }: Pick<MailSyncDeps, 'messages'>,
  { session, uidValidity }: OpenFolder,
  row: MailMessageRow,
): Promise<'found' | 'gone' | 'renumbered'> => {
  if (uidValidity !== row.uid_validity) return 'renumbered';
  const message = await session.fetchOne(`${row.uid}`, IDENTITY, { uid: true });
  if (!message) return 'gone';
  if (isStoredMail(row, { message, header: parseMailHeader(message) })) return 'found';
  await messages.write([setAside(messages, row)]);
  return 'renumbered';
};

/**
 * In steps, since servers reject very long commands. Unrequested and rejected messages are dropped.
 */
const fetchAll = async <T>(
  session: ImapSession,
  uids: number[],
  query: FetchQueryObject,
  keep: (message: FetchMessageObject) => T,
): Promise<T[]> => {
  const wanted = new Set(uids);
  const fetched: T[] = [];
  const fetchStep = async (step: number[]): Promise<void> => {
    try {
      for await (const message of session.fetch(step.join(','), query, { uid: true })) {
        if (wanted.delete(message.uid)) fetched.push(keep(message));
      }
    } catch (error) {
      if (!isCommandRefused(error)) throw error;
      // One of them cannot be read: they are requested one by one.
      if (step.length === 1) return;
      for (const uid of step) if (wanted.has(uid)) await fetchStep([uid]);
    }
  };
  for (let at = 0; at < uids.length; at += STEP) await fetchStep(uids.slice(at, at + STEP));
  return fetched;
};

const partsByUid = (fetched: { message: FetchMessageObject }[]): Map<number, MailTextParts> =>
  new Map(fetched.map(({ message }) => [message.uid, collectMailParts(message.bodyStructure)]));

/** By UID. Messages with the same part are requested together. */
export const fetchBeginnings = async (
  session: ImapSession,
  structures: Map<number, MailTextParts>,
  bytes: number,
): Promise<Map<number, string>> => {
  const beginnings = new Map<number, string>();
  const byPart = new Map<string, number[]>();
  const shown = new Map<number, string>();
  for (const [uid, { text, html }] of structures) {
    const isShort = text !== null && text.bytes <= MAX_HINT_LENGTH;
    const parts = isShort ? [text, html] : [text ?? html];
    for (const part of parts.flatMap((each) => each?.part ?? [])) {
      byPart.set(part, [...(byPart.get(part) ?? []), uid]);
    }
  }
  for (const [part, group] of byPart) {
    const bodyParts = [{ key: part, start: 0, maxLength: bytes }];
    const contentOf = (message: FetchMessageObject) => ({
      uid: message.uid,
      content: Buffer.from(message.bodyParts?.get(part)?.subarray(0, bytes) ?? []),
    });
    const query = { uid: true, bodyParts };
    for (const { uid, content } of await fetchAll(session, group, query, contentOf)) {
      const { text = null, html = null } = structures.get(uid) ?? {};
      if (content.length === 0) continue;
      if (text?.part === part) beginnings.set(uid, decodedPart(content, text));
      else if (html) shown.set(uid, textOfHtml(decodedPart(content, html)));
    }
  }
  for (const [uid, html] of shown) {
    beginnings.set(uid, combineTexts(beginnings.get(uid) ?? '', html));
  }
  return beginnings;
};
