import type Database from 'better-sqlite3';
import type { StartedSending, Targets } from '../store/tables/outbox.js';

/** A request of the queue for a number of jobs of each lane, by this start of the daemon. */
export interface Claim {
  /** The id of this start. Claims of an earlier start are free. */
  boot: string;
  /** The current time in ISO 8601. Jobs due later are not claimed. */
  now: string;
  lanes: { lane: string; count: number }[];
  /**
   * The kinds of targets. If given, messages begin as they are claimed, without another
   * transaction.
   */
  targets?: Targets;
}

export interface ClaimedJob {
  id: number;
  kind: string;
  ref: string;
  lane: string;
  attempts: number;
  /** The message of the job, if it exists and began as it was claimed. */
  begun?: StartedSending | null;
}

export interface Claimed {
  jobs: ClaimedJob[];
  /** Lanes without further due jobs, and the due time of their next job: null = never. */
  dry: { lane: string; nextAt: string | null }[];
}

/** Begins messages, each by its id, in the transaction that claims their jobs. */
type BeginClaimed = (start: Targets & { ids: string[]; now: string }) => (StartedSending | null)[];

/** Claims the oldest due jobs of each lane. A claim is free again at the next start. */
export const claimJobs = (db: Database.Database, begin: BeginClaimed) => {
  const due = db.prepare(
    `SELECT id, kind, ref, lane, attempts FROM jobs INDEXED BY jobs_waiting
     WHERE lane = ? AND boot IS NULL AND run_at <= ? ORDER BY id LIMIT ?`,
  );
  const mark = db.prepare('UPDATE jobs SET boot = ?, attempts = attempts + 1 WHERE id = ?');
  const next = db.prepare(
    'SELECT min(run_at) AS nextAt FROM jobs INDEXED BY jobs_waiting WHERE lane = ? AND boot IS NULL',
  );

  const beginAll = (jobs: ClaimedJob[], targets: Targets, now: string): void => {
    const sendings = jobs.filter(({ kind }) => kind === 'sending');
    const begun = begin({ ids: sendings.map(({ ref }) => ref), now, ...targets });
    sendings.forEach((job, at) => {
      job.begun = begun[at];
    });
  };

  return ({ boot, now, lanes, targets }: Claim): Claimed => {
    const claimed: Claimed = { jobs: [], dry: [] };
    for (const { lane, count } of lanes) {
      const found = due.all(lane, now, count) as ClaimedJob[];
      for (const job of found) {
        mark.run(boot, job.id);
        claimed.jobs.push({ ...job, attempts: job.attempts + 1 });
      }
      if (found.length === count) continue;
      const { nextAt } = next.get(lane) as { nextAt: string | null };
      claimed.dry.push({ lane, nextAt });
    }
    if (targets) beginAll(claimed.jobs, targets, now);
    return claimed;
  };
};
