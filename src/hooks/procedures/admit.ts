import type Database from 'better-sqlite3';
import {
  type NoticePosting,
  postNotice,
  type QueuedLanes,
} from '../../outbound/procedures/post.js';
import { ExpectationFailed } from '../../store/engine/protocol.js';

export interface Admission {
  hookId: string;
  now: string;
  /** A later execution of the hook is within the cooldown. */
  cooldownSince: string;
  exhausted: NoticePosting | null;
}

export type Admitted = 'go' | 'last' | 'cooldown' | 'exhausted';

interface RunCount {
  runs: number;
  max_executions: number | null;
  last_run_at: string | null;
}

/**
 * Checks and counts in one transaction, so that two concurrent executions never both pass. `last`:
 * this execution reached the limit, so the hook is disabled and its owner is notified.
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

export interface UnlimitedRun extends Pick<Admission, 'hookId' | 'now'> {
  executionId: string;
}

/** Throws Unmet if the hook has limits by now. The retry checks them. */
export const admitUnlimited = (db: Database.Database) => {
  const count = db.prepare(
    `UPDATE hooks SET runs = runs + 1, last_run_at = @now
      WHERE id = @hookId AND cooldown_ms = 0 AND max_executions IS NULL`,
  );
  const mark = db.prepare('UPDATE executions SET started_at = @now WHERE id = @executionId');
  return (run: UnlimitedRun): void => {
    if (count.run(run).changes === 0)
      throw new ExpectationFailed('the hook is gone or has limits now', 0);
    mark.run(run);
  };
};

/** `save` writes the counts once per hook. */
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

/** An execution in the future was counted before the clock was set back, so it is ignored. */
const isBetween = (at: string | null, since: string, now: string): boolean =>
  at !== null && at > since && at <= now;
