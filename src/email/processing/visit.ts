import { type Clock, iso } from '../../kernel/clock.js';
import { type TransactionStep, Unavailable } from '../../store/engine/protocol.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import type { MailAccess } from '../accounts/access.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import type { MailMessagesStore } from '../messages/queries.js';
import type { MailTurns } from '../messages/service.js';
import {
  addMessages,
  inFolder,
  type MailSyncDeps,
  type OpenFolder,
  searchMailFolder,
  syncFolder,
} from '../messages/sync.js';
import { type MessageRunDeps, type ProcessedCounts, processMessages } from './messagebatches.js';

export interface VisitDeps {
  take: MessageRunDeps;
  clock: Clock;
  messages: MailMessagesStore;
  accounts: Pick<MailAccountsStore, 'note'>;
  access: MailAccess;
  inTurn: MailTurns;
}

export interface MailVisit {
  account: MailAccountRow;
  folders: string[];
  /** Earliest arrival; null: only new messages. */
  since: number | null;
  signal: AbortSignal;
  /** All steps or none. Throws Unmet. */
  commit(steps: TransactionStep[], more: ProcessedCounts): Promise<void>;
  /** Called with the number of messages before the first is processed. */
  found(count: number): void;
}

const DAY_MS = 86_400_000;
const NOTHING: ProcessedCounts = { processed: 0, runs: 0, known: 0 };

/** Throws MailFault. */
export const visitMailbox = async (deps: VisitDeps, visit: MailVisit): Promise<void> => {
  const { account, signal } = visit;
  const guard = createGuard(visit.commit);
  await deps.inTurn(`visit ${account.id}`, () =>
    deps.access.imap(account, { signal }, (session) =>
      guard.around(async () => {
        for (const folder of visit.folders) {
          const opened = { account, folder };
          await inFolder(session, opened, (each) => processFolder(deps, each, visit, guard.commit));
        }
      }),
    ),
  );
  guard.rethrow();
  await deps.accounts.note(account, { last_sync_at: iso(deps.clock.now()) });
};

export const processFolder = async (
  deps: VisitDeps,
  opened: OpenFolder,
  { since, signal, found }: Pick<MailVisit, 'since' | 'signal' | 'found'>,
  commit: MailVisit['commit'],
): Promise<void> => {
  const { account, folder } = opened;
  const from = since ?? newMessagesFrom(deps.clock, account);
  const write = (steps: TransactionStep[]) => commit(steps, NOTHING);
  const sync = { clock: deps.clock, messages: { ...deps.messages, write } };
  await deps.inTurn(account.id, async () => {
    await syncFolder(sync, opened);
    if (since !== null) await addOlderMessages(sync, opened, since);
  });
  const arrived = { userId: account.user_id, accountId: account.id, folder, from };
  found(await deps.take.inbox.countUnprocessed(arrived));
  await processMessages(deps.take, opened, { from, signal, commit });
};

/** Servers state the arrival in whole seconds. */
const newMessagesFrom = (clock: Clock, { new_from, sync_days }: MailAccountRow): number =>
  Math.max(Math.floor(Date.parse(new_from) / 1000) * 1000, clock.now() - sync_days * DAY_MS);

const addOlderMessages = async (
  deps: MailSyncDeps,
  opened: OpenFolder,
  since: number,
): Promise<void> => {
  const { account, folder, uidValidity } = opened;
  if (since >= deps.clock.now() - account.sync_days * DAY_MS) return;
  const uids = await searchMailFolder(opened, { since: new Date(since) });
  const all = await deps.messages.known(account.id, folder);
  const isHere = ({ uid_validity }: { uid_validity: string }) => uid_validity === uidValidity;
  const have = new Set(all.filter(isHere).map(({ uid }) => uid));
  await addMessages(deps, opened, { uids: uids.filter((uid) => !have.has(uid)) });
};

/**
 * Separates our write errors from server errors: any exception in a session counts as a server
 * failure.
 */
export const createGuard = (input: MailVisit['commit']) => {
  let last: unknown = null;
  let own: { error: unknown } | null = null;
  return {
    commit: async (...of: Parameters<MailVisit['commit']>): Promise<void> => {
      try {
        await input(...of);
      } catch (error) {
        last = error;
        throw error;
      }
    },
    around: async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (error !== last && !(error instanceof Unavailable)) throw error;
        own = { error };
      }
    },
    rethrow: (): void => {
      if (own !== null) throw own.error;
    },
  };
};
