import type Database from 'better-sqlite3';
import type { AgentBeginning } from '../store/tables/agents.js';
import type { ClaimedExecution } from '../store/tables/hooks.js';
import type { StartedMessage, Targets } from '../store/tables/outbox.js';

/** A number of jobs of one lane. */
export interface Share {
  lane: string;
  count: number;
  /** True if they run in a batch; see JobHandler. */
  isBatch: boolean;
}

/** A request of the queue for a number of jobs of each lane, by this start of the daemon. */
export interface Claim {
  /** The id of this start. Claims of an earlier start are free. */
  boot: string;
  /** The current time in ISO 8601. Jobs due later are not claimed. */
  now: string;
  lanes: Share[];
  /**
   * The kinds of targets. If given, messages begin as they are claimed, without another
   * transaction.
   */
  targets?: Targets;
}

export interface ClaimedJob {
  /** The number of its row; 0 for an execution, which is in the queue itself. */
  id: number;
  kind: string;
  ref: string;
  lane: string;
  attempts: number;
  /** The message of the job, if it exists and began as it was claimed. */
  begun?: StartedMessage | null;
  /** The beginning of the agent of the job, if it began as the job was made. */
  beginning?: AgentBeginning;
  /** The execution of the job, if its kind is `execution`. */
  loaded?: ClaimedExecution;
}

export interface Claimed {
  jobs: ClaimedJob[];
  /** Lanes without further due jobs, and the due time of their next job: null = never. */
  dry: { lane: string; nextAt: string | null }[];
  /**
   * Lanes of hooks in which jobs of agents wait. Their jobs run one by one; nothing was claimed of
   * those that were to run in a batch.
   */
  mixed: string[];
}

/** The queue of executions, as the procedures of the hooks read it. */
interface ExecutionQueue {
  /** Claims executions of a hook; `nextAt` is null if no further one waits. */
  claim(of: { boot: string; now: string; hookId: string; count: number; isBatch: boolean }): {
    claimed: ClaimedExecution[];
    nextAt: string | null;
  };
}

/** Begins messages, each by its id, in the transaction that claims their jobs. */
type BeginClaimed = (start: Targets & { ids: string[]; now: string }) => (StartedMessage | null)[];

/**
 * Claims the oldest due jobs of each lane, and of a hook's lane the oldest due executions after
 * them. A claim is free again at the next start.
 */
export const claimJobs = (
  db: Database.Database,
  { begin, executions }: { begin: BeginClaimed; executions: ExecutionQueue['claim'] },
) => {
  const due = db.prepare<[string, string, number], ClaimedJob>(
    `SELECT id, kind, ref, lane, attempts FROM jobs INDEXED BY jobs_waiting
     WHERE lane = ? AND boot IS NULL AND run_at <= ? ORDER BY id LIMIT ?`,
  );
  const mark = db.prepare('UPDATE jobs SET boot = ?, attempts = attempts + 1 WHERE id = ?');
  const next = db
    .prepare<[string], string | null>(
      'SELECT min(run_at) FROM jobs INDEXED BY jobs_waiting WHERE lane = ? AND boot IS NULL',
    )
    .pluck();

  const beginAll = (jobs: ClaimedJob[], targets: Targets, now: string): void => {
    const messages = jobs.filter(({ kind }) => kind === 'sending');
    const begun = begin({ ids: messages.map(({ ref }) => ref), now, ...targets });
    messages.forEach((job, at) => {
      job.begun = begun[at];
    });
  };

  const claimRows = ({ lane, count }: Share, boot: string, now: string): ClaimedJob[] =>
    due.all(lane, now, count).map((job) => {
      mark.run(boot, job.id);
      return { ...job, attempts: job.attempts + 1 };
    });

  const claimOfHook = (share: Share, boot: string, now: string, claimed: Claimed): void => {
    const { lane, count, isBatch } = share;
    const jobs = isBatch ? [] : claimRows(share, boot, now);
    const nextJobAt = next.get(lane) ?? null;
    if (nextJobAt !== null) claimed.mixed.push(lane);
    if (isBatch && nextJobAt !== null) return;
    const left = count - jobs.length;
    const found = executions({ boot, now, hookId: lane, count: left, isBatch });
    claimed.jobs.push(...jobs, ...found.claimed.map(jobOf));
    const nextAt = earlier(nextJobAt, found.nextAt);
    if (nextAt === null || nextAt > now) claimed.dry.push({ lane, nextAt });
  };

  const claimOf = (share: Share, boot: string, now: string, claimed: Claimed): void => {
    const jobs = claimRows(share, boot, now);
    claimed.jobs.push(...jobs);
    if (jobs.length < share.count) {
      claimed.dry.push({ lane: share.lane, nextAt: next.get(share.lane) ?? null });
    }
  };

  return ({ boot, now, lanes, targets }: Claim): Claimed => {
    const claimed: Claimed = { jobs: [], dry: [], mixed: [] };
    for (const share of lanes) {
      const take = share.lane.startsWith(HOOK) ? claimOfHook : claimOf;
      take(share, boot, now, claimed);
    }
    if (targets) beginAll(claimed.jobs, targets, now);
    return claimed;
  };
};

/** The beginning of the lanes of hooks, which are the hooks' IDs. */
const HOOK = 'hook_';

const jobOf = (loaded: ClaimedExecution): ClaimedJob => {
  const { id: ref, hook_id: lane, attempts } = loaded.execution;
  return { id: 0, kind: 'execution', ref, lane, attempts, loaded };
};

const earlier = (a: string | null, b: string | null): string | null => {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
};
