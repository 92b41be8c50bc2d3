import { setTimeout as pause } from 'node:timers/promises';
import { iso } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import { createWatch } from '../../kernel/watch.js';
import { MailFault } from '../../providers/mail/fault.js';
import type { ImapSession } from '../../providers/mail/imap.js';
import type { Store } from '../../store/store.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import { createGuard, processFolder, type VisitDeps, visitMailbox } from '../processing/visit.js';
import { type StayTimes, stayInMailbox } from './stay.js';

export interface MailWatcherDeps {
  store: Pick<Store, 'transact' | 'writes'>;
  log: Log;
  accounts: MailAccountsStore;
  visits: VisitDeps;
  times: StayTimes & ReconnectTimes;
}

/** The waits before reconnecting to a mailbox, in milliseconds. */
interface ReconnectTimes {
  firstMs: number;
  /** The first one after a refused login, since servers lock out who tries too often. */
  loginMs: number;
  mostMs: number;
}

/** Keeps a connection to each mailbox that is watched, and processes what arrives. */
export interface MailWatcher {
  start(): void;
  /** Closes all connections. Resolves when nothing is processed any more. */
  stop(): Promise<void>;
}

export const RECONNECT_TIMES: ReconnectTimes = {
  firstMs: 2000,
  loginMs: 60_000,
  mostMs: 15 * 60_000,
};

/** Ours: an account that is switched off, and one whose owner is disabled, is left within this time. */
const LOOK_MS = 500;
/** Ours: the most connections; mailboxes above that are visited at intervals. */
const MAX_CONNECTIONS = 200;

/** One mailbox that is watched. */
interface WatchedMailbox {
  /** The version of the account with which it began. */
  version: string;
  end: AbortController;
  work: Promise<void>;
}

export const createMailWatcher = (deps: MailWatcherDeps): MailWatcher => {
  const { store, log, accounts } = deps;
  const watched = new Map<string, WatchedMailbox>();
  /** The work of mailboxes that are left. */
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

  /** Begins and ends watches as the accounts say. It reads them only if something was written. */
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
  const poll = createWatch({ everyMs: LOOK_MS, look, failed });
  return {
    start: poll.start,
    stop: async () => {
      await poll.stop();
      for (const id of watched.keys()) leave(id);
      await Promise.all(ending);
    },
  };
};

/** Watches a mailbox until the signal aborts, and connects anew whenever that fails. */
const keepWatching = async (
  deps: MailWatcherDeps,
  account: MailAccountRow,
  { isConnected, signal }: { isConnected: boolean; signal: AbortSignal },
): Promise<void> => {
  const { times, log } = deps;
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
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
  }
};

/** Returns the wait after so many failures before: it doubles, with a jitter, so that not all come at once. */
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

/** Stays in a mailbox as long as the connection holds. Throws MailFault. */
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
      stayInMailbox({
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
          const at = iso(visits.clock.now());
          await accounts.note(account, { status: 'ok', error: null, last_sync_at: at });
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

/** Puts the folder first of which the server tells: the inbox, if it is one of them. */
const inboxFirst = (folders: string[]): string[] => [
  ...folders.filter((name) => name.toUpperCase() === 'INBOX'),
  ...folders.filter((name) => name.toUpperCase() !== 'INBOX'),
];
