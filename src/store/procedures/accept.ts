import type Database from 'better-sqlite3';
import type { ExecutionRow, HookRow } from '../tables/hooks.js';

export interface Acceptance {
  delivery: {
    id: string;
    path: string;
    method: string;
    headers: string;
    body: string;
    event: string | null;
    receivedAt: string;
  };
  /** The sender's own id of the delivery and the digest of the body: together they name a repeat. */
  claim: { senderId: string; bodyDigest: string } | null;
  /** The hooks whose secret verified, each with the id its execution is to have. */
  hooks: { hookId: string; executionId: string; usedOldSecret: boolean }[];
}

export interface Accepted {
  executions: { hookId: string; executionId: string }[];
  /** Where hooks had this delivery already: its id. */
  duplicateOf: string | null;
}

type Hook = Pick<HookRow, 'user_id' | 'trigger' | 'action' | 'enabled'>;

/**
 * The moment a delivery becomes durable: claims the sender's id per hook, stores the delivery once,
 * and one execution with its job per hook that fires. A hook that was disabled or deleted since its
 * secret was checked, or has another trigger now, does not fire; a hook of a disabled user counts as
 * disabled. An execution that ended in error before any effect began is run again by a repeat of its
 * delivery (reliability.md: Answers of the receiver).
 */
export const acceptDelivery = (db: Database.Database) => {
  const statements = prepare(db);

  const accept = ({ delivery, claim, hooks }: Acceptance): Accepted => {
    const accepted: Accepted = { executions: [], duplicateOf: null };
    for (const { hookId, executionId, usedOldSecret } of hooks) {
      const hook = statements.hook.get(hookId) as Hook | undefined;
      if (hook?.enabled !== 1 || hook.trigger !== 'webhook') continue;
      const earlier = claim && claimFor(claim, hookId, executionId, delivery);
      if (earlier) {
        accepted.duplicateOf = earlier;
        continue;
      }
      if (accepted.executions.length === 0) insertDelivery(delivery, claim?.senderId ?? null);
      insertExecution({ hookId, executionId, hook, delivery });
      if (usedOldSecret) statements.oldSecretUsed.run(delivery.receivedAt, hookId);
      accepted.executions.push({ hookId, executionId });
    }
    return accepted;
  };

  /** The id of the earlier delivery if this one is a repeat that is not to run again. */
  const claimFor = (
    claim: NonNullable<Acceptance['claim']>,
    hookId: string,
    executionId: string,
    { id, receivedAt }: Acceptance['delivery'],
  ): string | null => {
    const key = [hookId, claim.senderId, claim.bodyDigest];
    if (statements.claim.run(...key, executionId, id, receivedAt).changes === 1) return null;
    const earlier = statements.claimed.get(...key) as
      | {
          delivery_id: string;
          status: ExecutionRow['status'] | null;
          effect: ExecutionRow['effect'];
        }
      | undefined;
    if (earlier?.status === 'error' && earlier.effect === 'none') {
      statements.reclaim.run(executionId, id, ...key);
      return null;
    }
    return earlier?.delivery_id ?? id;
  };

  const insertDelivery = (of: Acceptance['delivery'], senderId: string | null): void => {
    statements.delivery.run(
      of.id,
      of.path,
      of.method,
      of.headers,
      of.body,
      of.event,
      senderId,
      of.receivedAt,
    );
  };

  const insertExecution = (of: {
    hookId: string;
    executionId: string;
    hook: Hook;
    delivery: Acceptance['delivery'];
  }): void => {
    const { hookId, executionId, hook, delivery } = of;
    const at = delivery.receivedAt;
    statements.execution.run(
      executionId,
      hookId,
      hook.user_id,
      delivery.id,
      hook.trigger,
      hook.action,
      at,
    );
    statements.job.run(executionId, hookId, at);
    statements.count.run(hookId);
  };

  return accept;
};

const prepare = (db: Database.Database) => ({
  hook: db.prepare(
    `SELECT h.user_id, h.trigger, h.action, h.enabled AND u.disabled_at IS NULL AS enabled
     FROM hooks h JOIN users u ON u.id = h.user_id WHERE h.id = ?`,
  ),
  claim: db.prepare(
    `INSERT INTO delivery_claims
       (hook_id, sender_id, body_digest, execution_id, delivery_id, claimed_at)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  ),
  claimed: db.prepare(
    `SELECT c.delivery_id, e.status, e.effect
     FROM delivery_claims c LEFT JOIN executions e ON e.id = c.execution_id
     WHERE c.hook_id = ? AND c.sender_id = ? AND c.body_digest = ?`,
  ),
  reclaim: db.prepare(
    `UPDATE delivery_claims SET execution_id = ?, delivery_id = ?
     WHERE hook_id = ? AND sender_id = ? AND body_digest = ?`,
  ),
  delivery: db.prepare(
    `INSERT INTO deliveries (id, path, method, headers, body, event, sender_id, received_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  execution: db.prepare(
    `INSERT INTO executions
       (id, hook_id, user_id, delivery_id, trigger, action, status, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'queued', ?)`,
  ),
  job: db.prepare(`INSERT INTO jobs (kind, ref, lane, run_at) VALUES ('execution', ?, ?, ?)`),
  count: db.prepare('UPDATE hooks SET executions = executions + 1 WHERE id = ?'),
  oldSecretUsed: db.prepare('UPDATE hooks SET old_secret_last_used_at = ? WHERE id = ?'),
});
