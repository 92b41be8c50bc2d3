import type Database from 'better-sqlite3';

export interface Admission {
  hookId: string;
  now: string;
  /** Runs later than this are within the cooldown. */
  cooldownSince: string;
}

export type Admitted = 'go' | 'last' | 'cooldown' | 'exhausted';

/**
 * Lets an execution run, counting it in the same transaction in which cooldown and maxExecutions
 * are looked at, so that two at once never both pass. `last`: this one used the hook up, and the
 * hook is disabled now.
 */
export const admitExecution = (db: Database.Database) => {
  const look = db.prepare('SELECT runs, max_executions, last_run_at FROM hooks WHERE id = ?');
  const count = db.prepare('UPDATE hooks SET runs = runs + 1, last_run_at = ? WHERE id = ?');
  const disable = db.prepare('UPDATE hooks SET enabled = 0, updated_at = ? WHERE id = ?');
  return ({ hookId, now, cooldownSince }: Admission): Admitted => {
    const hook = look.get(hookId) as
      | { runs: number; max_executions: number | null; last_run_at: string | null }
      | undefined;
    if (!hook) return 'exhausted';
    if (hook.max_executions !== null && hook.runs >= hook.max_executions) return 'exhausted';
    if (hook.last_run_at !== null && hook.last_run_at > cooldownSince) return 'cooldown';
    count.run(now, hookId);
    if (hook.max_executions === null || hook.runs + 1 < hook.max_executions) return 'go';
    disable.run(now, hookId);
    return 'last';
  };
};
