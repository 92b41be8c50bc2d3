import type Database from 'better-sqlite3';
import { shareText } from '../../kernel/sharedtext.js';
import {
  type ClaimedExecution,
  type ClaimedHook,
  type DeliveryRow,
  deliveryTable,
  type ExecutionRow,
  executionTable,
  hookTable,
  type LoadedDelivery,
} from '../../store/tables/hooks.js';

/** A request of the queue for executions of one hook. */
export interface ExecutionClaim {
  boot: string;
  /** The time in ISO 8601. Executions due later are not claimed. */
  now: string;
  hookId: string;
  count: number;
  /**
   * True if they run in a batch, which only the database sees: no row is marked, since a start
   * after a crash has nothing to find out about them.
   */
  isBatch: boolean;
}

export interface ClaimedExecutions {
  claimed: ClaimedExecution[];
  /** The due time of the next one; null = never, or `now` if more of them are due already. */
  nextAt: string | null;
}

/** The most bytes of payloads in one claim, as a larger message would hold up both threads. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Claims the oldest due executions of a hook and loads them. One that was never tried is due,
 * whatever its time says: the clock may have been set back. A claim is free again at the next start.
 */
export const claimExecutions = (db: Database.Database) => {
  const due = db.prepare<[string, string, number], ExecutionRow>(
    `SELECT ${executionTable.columns} FROM executions INDEXED BY executions_waiting
     WHERE hook_id = ? AND run_at IS NOT NULL AND boot IS NULL AND (run_at <= ? OR attempts = 0)
     ORDER BY id LIMIT ?`,
  );
  const next = db
    .prepare<[string, string], string | null>(
      `SELECT min(run_at) FROM executions INDEXED BY executions_waiting
       WHERE hook_id = ? AND run_at IS NOT NULL AND boot IS NULL AND run_at > ?`,
    )
    .pluck();
  const mark = db.prepare('UPDATE executions SET boot = ?, attempts = attempts + 1 WHERE id = ?');
  const findHook = db.prepare<[string], ClaimedHook>(
    `SELECT ${hookTable.columns.map((name) => `h.${name}`)}, u.disabled_at AS suspended_at
     FROM hooks AS h JOIN users AS u ON u.id = h.user_id WHERE h.id = ?`,
  );
  const findDelivery = db.prepare<[string], DeliveryRow>(
    `SELECT ${deliveryTable.columns} FROM deliveries WHERE id = ?`,
  );

  const loadDelivery = (id: string): LoadedDelivery | null => {
    const row = findDelivery.get(id);
    return row ? { ...row, body: shareText(row.body) } : null;
  };

  return ({ boot, now, hookId, count, isBatch }: ExecutionClaim): ClaimedExecutions => {
    const found = due.all(hookId, now, count);
    const hook = found.length > 0 ? findHook.get(hookId) : undefined;
    const claimed: ClaimedExecution[] = [];
    let bytes = 0;
    for (const row of found) {
      if (!hook) break;
      const delivery = row.delivery_id === null ? null : loadDelivery(row.delivery_id);
      bytes += delivery?.body.length ?? 0;
      if (bytes > MAX_BYTES && claimed.length > 0) return { claimed, nextAt: now };
      if (!isBatch) mark.run(boot, row.id);
      const execution = { ...row, attempts: row.attempts + 1, boot: isBatch ? null : boot };
      claimed.push({ execution, hook, delivery });
    }
    return { claimed, nextAt: found.length === count ? now : (next.get(hookId, now) ?? null) };
  };
};

/**
 * Returns since when the run has waited that waits longest, of hooks and of agents; null if none
 * waits. The index of waiting executions is in the order of their hooks, so the first one of each
 * is looked up.
 */
export const oldestWait = (db: Database.Database) => {
  const firstAfter = db.prepare<[string], { hook_id: string; run_at: string }>(
    `SELECT hook_id, run_at FROM executions INDEXED BY executions_waiting
     WHERE run_at IS NOT NULL AND boot IS NULL AND hook_id > ? ORDER BY hook_id, id LIMIT 1`,
  );
  const agent = db
    .prepare<[], string | null>(
      `SELECT min(run_at) FROM jobs INDEXED BY jobs_of_agents
       WHERE boot IS NULL AND kind = 'agent'`,
    )
    .pluck();
  return (_: null): string | null => {
    let oldest = agent.get() ?? null;
    for (let each = firstAfter.get(''); each; each = firstAfter.get(each.hook_id)) {
      if (oldest === null || each.run_at < oldest) oldest = each.run_at;
    }
    return oldest;
  };
};
