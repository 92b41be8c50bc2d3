import type { Clock } from '../../kernel/clock.js';
import type { OperationEnd, OperationKind, OperationRun } from '../../operations/module.js';
import { MailFault } from '../../providers/mail/fault.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import type { ProcessedCounts } from './messagebatches.js';
import { type VisitDeps, visitMailbox } from './visit.js';

export interface ProcessingInput {
  /** null: all accounts of the user. */
  accountId: string | null;
  folder: string | null;
  /** Also includes older messages since then. */
  since: string | null;
}

interface ProcessingDeps extends VisitDeps {
  accounts: MailAccountsStore;
}

/** Attempts per mailbox if its server is down; the pause doubles. */
const TRIES = 4;
const FIRST_PAUSE_MS = 1000;
const UNREACHABLE_KINDS: ReadonlySet<string> = new Set(['connection', 'timeout']);

type ProcessingRun = OperationRun<ProcessingInput, ProcessedCounts>;

/** Restarts after an interruption: processed messages are known by then. */
export const processOperation = (
  deps: ProcessingDeps,
): OperationKind<ProcessingInput, ProcessedCounts> => ({
  kind: 'email.process',
  isResumable: true,
  isAdmins: false,
  run: (run) => processMailboxes(deps, run),
});

const processMailboxes = async (
  deps: ProcessingDeps,
  run: ProcessingRun,
): Promise<OperationEnd> => {
  const { accountId, folder, since } = run.input;
  const tally = createTally(run);
  const failures: string[] = [];
  for (const account of await loadAccounts(deps, run.userId, accountId)) {
    const visit = {
      account,
      folders: folder === null ? JSON.parse(account.folders) : [folder],
      since: since === null ? null : Date.parse(since),
      signal: run.signal,
      found: tally.found,
      commit: tally.commit,
    };
    try {
      await visitWithRetries(deps.clock, run.signal, () => visitMailbox(deps, visit));
    } catch (error) {
      if (!(error instanceof MailFault)) throw error;
      failures.push(`${account.address}: ${error.message}`);
    }
  }
  const result = tally.result();
  if (failures.length > 0) return { status: 'failed', error: failures.join('. '), result };
  return { status: 'completed', result };
};

const createTally = (run: ProcessingRun) => {
  let counts = run.checkpoint ?? { processed: 0, runs: 0, known: 0 };
  let left = 0;
  return {
    found: (count: number): void => {
      left = count;
    },
    commit: async (steps: TransactionStep[], more: ProcessedCounts): Promise<void> => {
      const after = sumCounts(counts, more);
      const leftAfter = Math.max(0, left - more.processed - more.known);
      await run.commit(steps, { checkpoint: after, progress: buildProgress(after, leftAfter) });
      counts = after;
      left = leftAfter;
    },
    result: (): Record<string, unknown> => ({ ...counts }),
  };
};

const visitWithRetries = async (
  clock: Clock,
  signal: AbortSignal,
  visit: () => Promise<void>,
): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      return await visit();
    } catch (error) {
      const isAway = error instanceof MailFault && UNREACHABLE_KINDS.has(error.kind);
      if (!isAway || tries === TRIES) throw error;
    }
    await clock.wait(FIRST_PAUSE_MS * 2 ** (tries - 1), signal);
  }
};

const loadAccounts = async (
  { accounts }: ProcessingDeps,
  userId: string,
  id: string | null,
): Promise<MailAccountRow[]> => {
  if (id === null) return (await accounts.list(userId, { limit: 200 })).rows;
  const account = await accounts.get(userId, id);
  return account ? [account] : [];
};

const sumCounts = (one: ProcessedCounts, more: ProcessedCounts): ProcessedCounts => ({
  processed: one.processed + more.processed,
  runs: one.runs + more.runs,
  known: one.known + more.known,
});

const buildProgress = ({ processed, runs, known }: ProcessedCounts, left: number) => {
  const done = processed + known;
  return {
    done,
    total: done + left,
    unit: 'messages',
    note: `${processed} processed, ${runs} hook executions${known > 0 ? `, ${known} known` : ''}`,
  };
};
