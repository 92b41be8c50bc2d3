import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { badRequest, orNotFound } from '../../kernel/route.js';
import { FolderMissing, MailFault } from '../../providers/mail/fault.js';
import type { ImapSession } from '../../providers/mail/imap.js';
import type { MailAccountRow, MailMessageRow } from '../../store/tables/mail.js';
import type { MailAccess } from '../accounts/access.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import { findMailAccount } from '../accounts/service.js';
import type { KeepFresh } from './freshness.js';
import type { MessageFilter } from './queries.js';
import {
  addMessages,
  inFolder,
  locateMessage,
  type MailSyncDeps,
  searchMailFolder,
  syncFolder,
} from './sync.js';

export interface MailMessagesDeps {
  sync: MailSyncDeps;
  accounts: MailAccountsStore;
  access: MailAccess;
  /** Serializes per account, since no message may be stored twice. */
  inTurn: MailTurns;
  keepFresh: KeepFresh;
}

export type MailTurns = <T>(accountId: string, work: () => Promise<T>) => Promise<T>;

export interface MailListQuery extends Omit<MessageFilter, 'found'> {
  q?: string | undefined;
}

const DAY_MS = 86_400_000;
/** After this time stored messages are shown. */
const PATIENCE_MS = 20_000;
const NO_RESPONSE = 'The server did not respond in time';
/** The newest of a folder. */
const MAX_FOUND = 300;

/**
 * The first page updates the stored messages. If the server is unreachable, stored data is returned
 * and the account shows the error.
 */
export const listMail = async (
  deps: MailMessagesDeps,
  { userId, signal }: Pick<Caller, 'userId' | 'signal'>,
  { q, ...filter }: MailListQuery,
) => {
  const accounts = await loadAccounts(deps, userId, filter.accountId);
  const isDeep = (account: MailAccountRow): boolean =>
    q !== undefined ||
    (filter.since !== undefined &&
      Date.parse(filter.since) < deps.sync.clock.now() - account.sync_days * DAY_MS);
  const found: string[] = [];
  const known = await Promise.all(
    accounts.map(async (account) => {
      const folders: string[] = filter.folder ? [filter.folder] : JSON.parse(account.folders);
      const isKnown = filter.cursor !== undefined || (await bringUpToDate(deps, account, folders));
      if (!isKnown || !isDeep(account)) return isKnown;
      await withServer(deps, account, signal, async (session) => {
        for (const folder of folders) {
          await inFolder(session, { account, folder }, async (opened) => {
            found.push(...(await search(deps.sync, opened, { ...filter, q })));
          });
        }
      });
      return isKnown;
    }),
  );
  if (filter.folder !== undefined && known.length > 0 && !known.includes(true)) {
    throw badRequest([
      { path: 'folder', message: 'does not match any folder of your mail accounts' },
    ]);
  }
  if (q !== undefined && found.length === 0) return { rows: [], nextCursor: null };
  const searched = q === undefined ? filter : { ...filter, found };
  return deps.sync.messages.list(userId, searched);
};

/** Concurrent callers share one sync. Resolves to false if the folder does not exist. */
const bringUpToDate = (
  deps: MailMessagesDeps,
  account: MailAccountRow,
  folders: string[],
): Promise<boolean> =>
  deps.keepFresh(`${account.id} ${JSON.stringify(folders)}`, async () => {
    const { accounts, sync } = deps;
    const outcome = await withServer(deps, account, null, async (session) => {
      for (const folder of folders) {
        const opened = { account, folder };
        await inFolder(session, opened, (each) => syncFolder(deps.sync, each));
      }
      await accounts.note(account, { last_sync_at: iso(sync.clock.now()) });
    });
    if (!('problem' in outcome)) return true;
    if (outcome.problem === NO_RESPONSE) {
      const state = { status: 'failing', error: NO_RESPONSE } as const;
      await accounts.note(account, state, { unless: 'needs_login' });
    }
    return !outcome.isMissing;
  });

const loadAccounts = async (
  { accounts }: MailMessagesDeps,
  userId: string,
  id: string | undefined,
): Promise<MailAccountRow[]> => {
  if (id !== undefined) {
    const account = await accounts.get(userId, id);
    return account ? [account] : [];
  }
  return (await accounts.list(userId, { limit: 200 })).rows;
};

/**
 * Serialized per account. Resolves to the problem if the server is unreachable. `signal` null:
 * nobody waits.
 */
const withServer = async <T>(
  { sync, access, inTurn }: MailMessagesDeps,
  account: MailAccountRow,
  signal: AbortSignal | null,
  work: (session: ImapSession) => Promise<T>,
): Promise<{ value: T } | { problem: string; isMissing: boolean }> => {
  const late = sync.clock.deadline(PATIENCE_MS);
  const limit = signal ? AbortSignal.any([signal, late]) : late;
  const visit = inTurn(account.id, () => access.imap(account, { signal: limit }, work));
  try {
    return { value: await Promise.race([visit, rejectOnAbort(limit)]) };
  } catch (error) {
    signal?.throwIfAborted();
    if (limit.aborted) {
      return { problem: NO_RESPONSE, isMissing: false };
    }
    if (error instanceof MailFault) {
      return { problem: error.message, isMissing: error instanceof FolderMissing };
    }
    throw error;
  }
};

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

const search = async (
  deps: MailSyncDeps,
  opened: Parameters<typeof addMessages>[1],
  { q, since, until }: MailListQuery,
): Promise<string[]> => {
  const criteria = {
    ...(q !== undefined && { text: q }),
    ...(since !== undefined && { since: new Date(since) }),
    ...(until !== undefined && { before: new Date(Date.parse(until) + DAY_MS) }),
  };
  const uids = new Set((await searchMailFolder(opened, criteria)).slice(-MAX_FOUND));
  const { account, folder, uidValidity } = opened;
  const isSame = (row: { uid_validity: string }) => row.uid_validity === uidValidity;
  const known = (await deps.messages.known(account.id, folder)).filter(isSame);
  const have = new Set(known.map(({ uid }) => uid));
  await addMessages(deps, opened, { uids: [...uids].filter((uid) => !have.has(uid)) });
  const now = (await deps.messages.known(account.id, folder)).filter(isSame);
  return now.flatMap(({ id, uid }) => (uids.has(uid) ? [id] : []));
};

const MAIL_NOT_FOUND =
  'E-mail not found. An e-mail that was moved to another folder has a new ID. List the messages again';

export const findMail = async (
  deps: MailMessagesDeps,
  userId: string,
  id: string,
): Promise<{ row: MailMessageRow; account: MailAccountRow }> => {
  const row = orNotFound(await deps.sync.messages.get(userId, id), MAIL_NOT_FOUND);
  return { row, account: await findMailAccount(deps, userId, row.account_id) };
};

/** Throws 404 if the message no longer exists, and 409 if its UID is no longer its own. */
export const atMessage = async <T>(
  deps: MailMessagesDeps,
  { row, account }: { row: MailMessageRow; account: MailAccountRow },
  signal: AbortSignal,
  work: (session: ImapSession) => Promise<T | null>,
): Promise<{ value: T } | { problem: string }> => {
  const found = await withServer(deps, account, signal, (session) =>
    inFolder(session, { account, folder: row.folder }, async (opened) => {
      const place = await locateMessage(deps.sync, opened, row);
      if (place !== 'found') return place;
      const value = await work(session);
      return value === null ? 'gone' : { value };
    }),
  );
  if ('problem' in found) return found;
  // Thrown here, since an exception in a session counts as a server failure.
  if (found.value === 'gone') throw mailGone();
  if (found.value === 'renumbered') throw mailRenumbered();
  return found.value;
};

const mailGone = (): Boom.Boom =>
  Boom.notFound(
    'The e-mail is no longer in its folder: it was moved or deleted. List the messages again',
    { code: 'mail_gone' },
  );

const mailRenumbered = (): Boom.Boom =>
  Boom.conflict(
    'The mail server has renumbered the folder of the e-mail. List the messages again, then repeat the request',
    { code: 'mail_renumbered' },
  );
