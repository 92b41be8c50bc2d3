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

export interface ExecutionClaim {
  boot: string;
  /** Executions due later are not claimed. */
  now: string;
  hookId: string;
  count: number;
  /**
   * Batch executions are not marked in their rows, because all their effects are in the database.
   */
  isBatch: boolean;
}

export interface ClaimedExecutions {
  claimed: ClaimedExecution[];
  /** Null means never. `now` means that more are already due. */
  nextAt: string | null;
}

/** Payload bytes per claim, because a larger message would block both threads. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * An execution that was never tried is always due, because the clock may have been set back. Claims
 * expire with the next start.
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
 * Null if no execution or agent is waiting. The index is ordered by hook, so the first row of each
 * hook is read.
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
