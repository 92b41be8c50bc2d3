import { join } from 'node:path';
import Database from 'better-sqlite3';
import { idDigits } from '../harness/ids.js';

const BODY = JSON.stringify({ action: 'opened', padding: 'x'.repeat(1000) });

/** Deliveries that were acknowledged and have not run, as a daemon that was killed leaves them. */
export const queueDeliveries = (home: string, count: number, isDone = false): void => {
  const db = new Database(join(home, 'adjutant.db'));
  const at = '2026-01-01T00:00:00.000Z';
  const boot = 'boot_of_before';
  db.pragma('foreign_keys = ON');
  db.exec(`
    INSERT INTO users (id, username, username_key, password_hash, role, created_at)
    VALUES ('user_queued', 'queued', 'queued', '', 'user', '${at}');
    INSERT INTO hooks (id, user_id, name, trigger, trigger_config, action, action_config, enabled,
      conditions, created_at, updated_at)
    VALUES ('hook_queued', 'user_queued', 'queued', 'webhook', '{}', 'notify',
      '{"notifyMessage":"x"}', 1, '[]', '${at}', '${at}')`);
  const delivery = db.prepare(
    `INSERT INTO deliveries (id, path, method, headers, body, event, sender_id, received_at)
     VALUES (?, 'queued', 'POST', '{}', ?, 'issues', NULL, ?)`,
  );
  const execution = db.prepare(
    `INSERT INTO executions
       (id, hook_id, user_id, delivery_id, trigger, action, status, created_at, run_at, boot)
     VALUES (?, 'hook_queued', 'user_queued', ?, 'webhook', 'notify', ?, ?, ?, ?)`,
  );
  const tail = (n: number): string => idDigits(Date.parse(at), n);
  const add = db.transaction((from: number, size: number) => {
    for (let n = from; n < from + size; n++) {
      const ids = { delivery: `delivery_${tail(n)}`, execution: `execution_${tail(n)}` };
      delivery.run(ids.delivery, BODY, at);
      const claim = isDone ? [null, null] : [at, n < 20 ? boot : null];
      execution.run(ids.execution, ids.delivery, isDone ? 'success' : 'queued', at, ...claim);
    }
  });
  for (let from = 0; from < count; from += 10_000) add(from, Math.min(count - from, 10_000));
  db.close();
};
