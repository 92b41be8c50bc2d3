import type Database from 'better-sqlite3';

export interface Admission {
  executionId: string;
  hookId: string;
  now: string;
  /** The start of the cooldown: a later run of the hook is within it. */
  cooldownSince: string;
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
 * one used the hook up, and the hook is disabled now.
 */
export const admitExecution = (db: Database.Database) => {
  const look = db.prepare('SELECT runs, max_executions, last_run_at FROM hooks WHERE id = ?');
  const mark = db.prepare('UPDATE executions SET started_at = ? WHERE id = ?');
  const count = db.prepare('UPDATE hooks SET runs = runs + 1, last_run_at = ? WHERE id = ?');
  const disable = db.prepare('UPDATE hooks SET enabled = 0, updated_at = ? WHERE id = ?');
  return ({ executionId, hookId, now, cooldownSince }: Admission): Admitted => {
    const hook = look.get(hookId) as RunCount | undefined;
    if (!hook) return 'exhausted';
    if (hook.max_executions !== null && hook.runs >= hook.max_executions) return 'exhausted';
    if (isBetween(hook.last_run_at, cooldownSince, now)) return 'cooldown';
    mark.run(now, executionId);
    count.run(now, hookId);
    if (hook.max_executions === null || hook.runs + 1 < hook.max_executions) return 'go';
    disable.run(now, hookId);
    return 'last';
  };
};

/**
 * True if the time is between the two others. A run in the future was counted before the clock was
 * set back, so it delays no other.
 */
const isBetween = (at: string | null, since: string, now: string): boolean =>
  at !== null && at > since && at <= now;
