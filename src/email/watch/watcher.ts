import { iso } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import { createWatch } from '../../kernel/watch.js';
import { MailFault } from '../../providers/mail/fault.js';
import type { ImapSession } from '../../providers/mail/imap.js';
import type { Store } from '../../store/store.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import { createGuard, processFolder, type VisitDeps, visitMailbox } from '../processing/visit.js';
import { type FolderWatchTimes, watchFolders } from './folderwatch.js';

export interface MailWatcherDeps {
  store: Pick<Store, 'transact' | 'writes'>;
  log: Log;
  accounts: MailAccountsStore;
  visits: VisitDeps;
  times: FolderWatchTimes & ReconnectTimes;
}

/** In milliseconds. */
interface ReconnectTimes {
  firstMs: number;
  /** After a rejected login, since servers lock out frequent attempts. */
  loginMs: number;
  mostMs: number;
}

export interface MailWatcher {
  start(): void;
  /** Resolves when all processing has ended. */
  stop(): Promise<void>;
}

export const RECONNECT_TIMES: ReconnectTimes = {
  firstMs: 2000,
  loginMs: 60_000,
  mostMs: 15 * 60_000,
};

/** A disabled account is left within this time. */
const LOOK_MS = 500;
/** Further mailboxes are polled. */
const MAX_CONNECTIONS = 200;

interface WatchedMailbox {
  /** Version of the account at the start. */
  version: string;
  end: AbortController;
  work: Promise<void>;
}

export const createMailWatcher = (deps: MailWatcherDeps): MailWatcher => {
  const { store, log, accounts } = deps;
  const watched = new Map<string, WatchedMailbox>();
  const ending = new Set<Promise<void>>();
  let seen = -1;

  const begin = (account: MailAccountRow): void => {
    const end = new AbortController();
    const isConnected = watched.size < MAX_CONNECTIONS;
    const work = keepWatching(deps, account, { isConnected, signal: end.signal });
    watched.set(account.id, { version: account.updated_at, end, work });
  };

  const leave = (id: string): void => {
    const one = watched.get(id);
    if (!one) return;
    watched.delete(id);
    one.end.abort();
    ending.add(one.work);
    void one.work.finally(() => ending.delete(one.work));
  };

  /** Reads the accounts only after a write. */
  const look = async (): Promise<void> => {
    const writes = store.writes();
    if (writes === seen) return;
    const rows = await accounts.watched();
    seen = writes;
    const versions = new Map(rows.map((row) => [row.id, row.updated_at]));
    for (const [id, { version }] of watched) if (versions.get(id) !== version) leave(id);
    for (const row of rows) if (!watched.has(row.id)) begin(row);
  };

  const failed = (error: unknown): void =>
    log.warn({ error: String(error) }, 'could not read the watched mail accounts');
  const poll = createWatch({ clock: deps.visits.clock, everyMs: LOOK_MS, look, failed });
  return {
    start: poll.start,
    stop: async () => {
      await poll.stop();
      for (const id of watched.keys()) leave(id);
      await Promise.all(ending);
    },
  };
};

const keepWatching = async (
  deps: MailWatcherDeps,
  account: MailAccountRow,
  { isConnected, signal }: { isConnected: boolean; signal: AbortSignal },
): Promise<void> => {
  const { times, log, visits } = deps;
  let failures = 0;
  const connected = (): void => {
    failures = 0;
  };
  while (!signal.aborted) {
    let waitMs = times.othersMs;
    try {
      if (isConnected) await watchMailbox(deps, account, { signal, connected });
      else await visitOnce(deps, account, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.info({ accountId: account.id, error: String(error) }, 'reconnecting to a mailbox');
      waitMs = waitAfter(times, error, failures++);
    }
    await visits.clock.wait(waitMs, signal).catch(() => undefined);
  }
};

/** Doubles, with jitter. */
const waitAfter = (
  { firstMs, loginMs, mostMs }: ReconnectTimes,
  error: unknown,
  failures: number,
): number => {
  const isLogin = error instanceof MailFault && error.kind === 'login';
  const ms = Math.min((isLogin ? loginMs : firstMs) * 2 ** Math.min(failures, 20), mostMs);
  return ms * (0.75 + Math.random() / 2);
};

const NOBODY_ASKS = { since: null, found: () => undefined };

/** Throws MailFault. */
const watchMailbox = async (
  deps: MailWatcherDeps,
  account: MailAccountRow,
  { signal, connected }: { signal: AbortSignal; connected(): void },
): Promise<void> => {
  const { visits, accounts, times } = deps;
  const guard = createGuard(committer(deps));
  const look = { ...NOBODY_ASKS, signal };
  await visits.access.imap(account, { signal }, (session: ImapSession) =>
    guard.around(() =>
      watchFolders({
        clock: visits.clock,
        session,
        place: { account },
        folders: inboxFirst(JSON.parse(account.folders)),
        times,
        signal,
        look: (opened) =>
          visits.inTurn(`visit ${account.id}`, () =>
            processFolder(visits, opened, look, guard.commit),
          ),
        looked: async () => {
          connected();
          await accounts.note(account, { last_sync_at: iso(visits.clock.now()) });
          await accounts.noteLogin(account, 'imap');
        },
      }),
    ),
  );
  guard.rethrow();
};

const visitOnce = (
  deps: MailWatcherDeps,
  account: MailAccountRow,
  signal: AbortSignal,
): Promise<void> =>
  visitMailbox(deps.visits, {
    account,
    folders: JSON.parse(account.folders),
    ...NOBODY_ASKS,
    signal,
    commit: committer(deps),
  });

const committer =
  ({ store }: MailWatcherDeps): Parameters<typeof createGuard>[0] =>
  async (steps) => {
    if (steps.length > 0) await store.transact(steps);
  };

/** The server reports the first folder: the inbox, if configured. */
const inboxFirst = (folders: string[]): string[] => [
  ...folders.filter((name) => name.toUpperCase() === 'INBOX'),
  ...folders.filter((name) => name.toUpperCase() !== 'INBOX'),
];
