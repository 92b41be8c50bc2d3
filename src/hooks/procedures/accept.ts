import type Database from 'better-sqlite3';
import type { ExecutionRow, HookRow } from '../../store/tables/hooks.js';

/**
 * A delivery for the hooks whose secret verified. Tuples, as the names of fields would take the two
 * threads as long as what they name.
 */
export type Acceptance = [
  delivery: [
    id: string,
    receivedAt: string,
    path: string,
    method: string,
    headers: string,
    body: string,
    event: string | null,
  ],
  /** The sender's own id of the delivery and the digest (hex) of the body: they name a repeat. */
  claim: [senderId: string, bodyDigest: string] | null,
  /** Each with the id that its execution is to have. */
  hooks: [hookId: string, executionId: string, usedOldSecret: boolean][],
];

export type Accepted = [
  /** Indexes of the hooks that fire. */
  fired: number[],
  /** Where hooks had this delivery already: its id. */
  duplicateOf: string | null,
];

type HookIdentity = Pick<HookRow, 'user_id' | 'trigger' | 'action'>;

/** A hook as the transaction found it: nothing else is written while this works. */
interface MatchedHook {
  /** Null where it does not fire. */
  hook: HookIdentity | null;
  fired: number;
}

/**
 * The moment deliveries become durable: claims the sender's id per hook, stores each delivery once,
 * and one execution with its job per hook that fires. A hook that was disabled or deleted since its
 * secret was checked, or has another trigger now, does not fire; a hook of a disabled user counts as
 * disabled. Ours: an execution that ended in error before any effect began is run again by a repeat
 * of its delivery; whatever else became of it, a repeat fires nothing.
 */
export const acceptDelivery = (db: Database.Database) => {
  const statements = prepare(db);

  const accept = (
    [delivery, claim, hooks]: Acceptance,
    found: Map<string, MatchedHook>,
  ): Accepted => {
    const accepted: Accepted = [[], null];
    const [, receivedAt] = delivery;
    hooks.forEach(([hookId, executionId, usedOldSecret], at) => {
      const known = found.get(hookId) ?? find(hookId, found);
      if (!known.hook) return;
      const earlier = claim && claimFor(claim, [hookId, executionId], delivery);
      if (earlier) {
        accepted[1] = earlier;
        return;
      }
      if (accepted[0].length === 0) statements.delivery.run(...delivery, claim?.[0] ?? null);
      insertExecution(known.hook, [hookId, executionId], delivery);
      if (usedOldSecret) statements.oldSecretUsed.run(receivedAt, hookId);
      known.fired++;
      accepted[0].push(at);
    });
    return accepted;
  };

  const find = (hookId: string, found: Map<string, MatchedHook>): MatchedHook => {
    const row = statements.hook.get(hookId) as (HookIdentity & { enabled: 0 | 1 }) | undefined;
    const known = { hook: row?.enabled === 1 && row.trigger === 'webhook' ? row : null, fired: 0 };
    found.set(hookId, known);
    return known;
  };

  /** The id of the earlier delivery if this one is a repeat that is not to run again. */
  const claimFor = (
    [senderId, bodyDigest]: NonNullable<Acceptance[1]>,
    [hookId, executionId]: [string, string],
    [id, receivedAt]: Acceptance[0],
  ): string | null => {
    const key = [hookId, senderId, bodyDigest];
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

  const insertExecution = (
    { user_id, trigger, action }: HookIdentity,
    [hookId, executionId]: [string, string],
    [id, at]: Acceptance[0],
  ): void => {
    statements.execution.run(executionId, hookId, user_id, id, trigger, action, at);
    statements.job.run(executionId, hookId, at);
  };

  return (acceptances: Acceptance[]): Accepted[] => {
    const found = new Map<string, MatchedHook>();
    const accepted = acceptances.map((each) => accept(each, found));
    for (const [hookId, { fired }] of found) if (fired > 0) statements.count.run(fired, hookId);
    return accepted;
  };
};

const prepare = (db: Database.Database) => ({
  hook: db.prepare(
    `SELECT h.user_id, h.trigger, h.action, h.enabled AND u.disabled_at IS NULL AS enabled
     FROM hooks h JOIN users u ON u.id = h.user_id WHERE h.id = ?`,
  ),
  claim: db.prepare(
    `INSERT INTO delivery_claims
       (hook_id, sender_id, body_digest, execution_id, delivery_id, claimed_at)
     VALUES (?, ?, unhex(?), ?, ?, ?) ON CONFLICT DO NOTHING`,
  ),
  claimed: db.prepare(
    `SELECT c.delivery_id, e.status, e.effect
     FROM delivery_claims c LEFT JOIN executions e ON e.id = c.execution_id
     WHERE c.hook_id = ? AND c.sender_id = ? AND c.body_digest = unhex(?)`,
  ),
  reclaim: db.prepare(
    `UPDATE delivery_claims SET execution_id = ?, delivery_id = ?
     WHERE hook_id = ? AND sender_id = ? AND body_digest = unhex(?)`,
  ),
  delivery: db.prepare(
    `INSERT INTO deliveries (id, received_at, path, method, headers, body, event, sender_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  execution: db.prepare(
    `INSERT INTO executions
       (id, hook_id, user_id, delivery_id, trigger, action, status, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'queued', ?)`,
  ),
  job: db.prepare(`INSERT INTO jobs (kind, ref, lane, run_at) VALUES ('execution', ?, ?, ?)`),
  count: db.prepare('UPDATE hooks SET executions = executions + ? WHERE id = ?'),
  oldSecretUsed: db.prepare('UPDATE hooks SET old_secret_last_used_at = ? WHERE id = ?'),
});
