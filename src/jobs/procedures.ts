import type Database from 'better-sqlite3';
import type { AgentBeginning } from '../store/tables/agents.js';
import type { ClaimedExecution } from '../store/tables/hooks.js';
import type { StartedMessage, Targets } from '../store/tables/outbox.js';

export interface Share {
  lane: string;
  count: number;
  isBatch: boolean;
}

export interface Claim {
  /** Claims of an earlier start are free. */
  boot: string;
  now: string;
  lanes: Share[];
  /** With targets, messages begin in the same transaction. */
  targets?: Targets;
}

export interface ClaimedJob {
  /** 0 for an execution, which is queued in its own table. */
  id: number;
  kind: string;
  ref: string;
  lane: string;
  attempts: number;
  begun?: StartedMessage | null;
  beginning?: AgentBeginning;
  loaded?: ClaimedExecution;
}

export interface Claimed {
  jobs: ClaimedJob[];
  /** Lanes without due jobs, and their next due time. Null means never. */
  dry: { lane: string; nextAt: string | null }[];
  /** Hook lanes with jobs of agents. They run individually, and no batch was claimed. */
  mixed: string[];
}

interface ExecutionQueue {
  claim(of: { boot: string; now: string; hookId: string; count: number; isBatch: boolean }): {
    claimed: ClaimedExecution[];
    nextAt: string | null;
  };
}

type BeginClaimed = (start: Targets & { ids: string[]; now: string }) => (StartedMessage | null)[];

/**
 * Oldest due jobs of each lane; in hook lanes followed by due executions. A claim ends with the
 * next start.
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
    claimed.jobs.push(...jobs, ...found.claimed.map(toClaimedJob));
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

/** Lanes of hooks are the hook IDs. */
const HOOK = 'hook_';

const toClaimedJob = (loaded: ClaimedExecution): ClaimedJob => {
  const { id: ref, hook_id: lane, attempts } = loaded.execution;
  return { id: 0, kind: 'execution', ref, lane, attempts, loaded };
};

const earlier = (a: string | null, b: string | null): string | null => {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
};
