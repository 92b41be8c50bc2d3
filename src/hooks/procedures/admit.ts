import type Database from 'better-sqlite3';
import {
  type NoticePosting,
  postNotice,
  type QueuedLanes,
} from '../../outbound/procedures/post.js';
import { Unmet } from '../../store/engine/protocol.js';

/** A run that the limits of its hook are to admit. */
export interface Admission {
  hookId: string;
  /** The time in ISO 8601 at which it begins. */
  now: string;
  /** The start of the cooldown: a later run of the hook is within it. */
  cooldownSince: string;
  /** The notification that the hook is used up, or null if its runs are not limited. */
  exhausted: NoticePosting | null;
}

export type Admitted = 'go' | 'last' | 'cooldown' | 'exhausted';

interface RunCount {
  runs: number;
  max_executions: number | null;
  last_run_at: string | null;
}

/**
 * Lets an execution run, and marks and counts it in the same transaction that checks cooldown and
 * maxExecutions. So two executions at once never both pass, and none is counted twice. `last`: this
 * one used the hook up; the hook is disabled and its owner notified in the same transaction.
 */
export const admitExecution = (db: Database.Database, lanes: QueuedLanes) => {
  const mark = db.prepare('UPDATE executions SET started_at = ? WHERE id = ?');
  const openCounts = runCounts(db, lanes);
  return ({ executionId, ...admission }: Admission & { executionId: string }): Admitted => {
    const counts = openCounts();
    const admitted = counts.admit(admission);
    counts.save();
    if (admitted === 'go' || admitted === 'last') mark.run(admission.now, executionId);
    return admitted;
  };
};

/** A run of a hook that had no limits when it was loaded. */
export interface UnlimitedRun extends Pick<Admission, 'hookId' | 'now'> {
  executionId: string;
}

/**
 * Marks and counts an execution of a hook without limits, as a step of the transaction with which
 * its action begins. Throws Unmet if the hook has limits by now; a further try asks them.
 */
export const admitUnlimited = (db: Database.Database) => {
  const count = db.prepare(
    `UPDATE hooks SET runs = runs + 1, last_run_at = @now
      WHERE id = @hookId AND cooldown_ms = 0 AND max_executions IS NULL`,
  );
  const mark = db.prepare('UPDATE executions SET started_at = @now WHERE id = @executionId');
  return (run: UnlimitedRun): void => {
    if (count.run(run).changes === 0) throw new Unmet('the hook is gone or has limits now', 0);
    mark.run(run);
  };
};

/**
 * Returns a function that opens the counts of hooks for one transaction. What `admit` counts is
 * written by `save`, once for each hook.
 */
export const runCounts = (db: Database.Database, lanes: QueuedLanes) => {
  const post = postNotice(db, lanes);
  const look = db.prepare<[string], RunCount>(
    'SELECT runs, max_executions, last_run_at FROM hooks WHERE id = ?',
  );
  const count = db.prepare('UPDATE hooks SET runs = ?, last_run_at = ? WHERE id = ?');
  const disable = db.prepare('UPDATE hooks SET enabled = 0, updated_at = ? WHERE id = ?');
  return () => {
    const hooks = new Map<string, RunCount>();
    const find = (hookId: string): RunCount | undefined => {
      const hook = hooks.get(hookId) ?? look.get(hookId);
      if (hook) hooks.set(hookId, hook);
      return hook;
    };
    return {
      admit: ({ hookId, now, cooldownSince, exhausted }: Admission): Admitted => {
        const hook = find(hookId);
        if (!hook) return 'exhausted';
        const most = hook.max_executions ?? Number.POSITIVE_INFINITY;
        if (hook.runs >= most) return 'exhausted';
        if (isBetween(hook.last_run_at, cooldownSince, now)) return 'cooldown';
        hook.runs++;
        hook.last_run_at = now;
        if (hook.runs < most) return 'go';
        disable.run(now, hookId);
        if (exhausted) post(exhausted);
        return 'last';
      },
      save: (): void => {
        for (const [id, { runs, last_run_at }] of hooks) count.run(runs, last_run_at, id);
      },
    };
  };
};

/**
 * True if the time is between the two others. A run in the future was counted before the clock was
 * set back, so it delays no other.
 */
const isBetween = (at: string | null, since: string, now: string): boolean =>
  at !== null && at > since && at <= now;
