import type Database from 'better-sqlite3';
import { type SharedText, unsharedText } from '../../kernel/sharedtext.js';
import {
  type NoticePosting,
  postNotice,
  type QueuedLanes,
} from '../../outbound/procedures/post.js';
import type { ExecutionRow, HookRow } from '../../store/tables/hooks.js';

/** A tuple, because field names would cost both threads as much time as the values. */
export type Acceptance = [
  delivery: [
    id: string,
    receivedAt: string,
    path: string,
    method: string,
    headers: string,
    body: SharedText,
    event: string | null,
    query: string | null,
  ],
  /** Delivery ID of the sender and SHA-256 of the body in hex. Identify a duplicate. */
  claim: [senderId: string, bodyDigest: string] | null,
  hooks: [
    hookId: string,
    executionId: string,
    usedOldSecret: boolean,
    /**
     * Prepared outcome whose effects are all in the database. Without it the execution is queued.
     */
    ready?: InlineEnd | null,
  ][],
];

export type InlineEnd = [hookUpdatedAt: string, result: string, notice: NoticePosting];

export type Accepted = [
  fired: number[],
  /** ID of the earlier delivery, if any hook already had this one. */
  duplicateOf: string | null,
  ended: number[],
];

type HookIdentity = Pick<HookRow, 'user_id' | 'trigger' | 'action' | 'updated_at'>;

/** Nothing else writes during the procedure. */
interface MatchedHook {
  hook: HookIdentity | null;
  fired: number;
  ended: number;
  /** Whether executions of the hook are queued, which must run before a prepared one. */
  isQueued: boolean;
}

/**
 * Deliveries are durable after the commit. Each delivery is stored once, with one queued execution
 * for each hook that runs. Hooks that were disabled, deleted or changed since verification do not
 * run. A duplicate runs only if the first execution failed before any effect. A prepared execution
 * ends in the same transaction, unless its hook was changed or has queued executions.
 */
export const acceptDelivery = (db: Database.Database, lanes: QueuedLanes) => {
  const statements = prepare(db);
  const post = postNotice(db, lanes);

  const accept = (
    [delivery, claim, hooks]: Acceptance,
    found: Map<string, MatchedHook>,
  ): Accepted => {
    const accepted: Accepted = [[], null, []];
    const [, receivedAt] = delivery;
    hooks.forEach(([hookId, executionId, usedOldSecret, ready], at) => {
      const known = found.get(hookId) ?? find(hookId, found);
      if (!known.hook) return;
      const earlier = claim && claimFor(claim, [hookId, executionId], delivery);
      if (earlier) {
        accepted[1] = earlier;
        return;
      }
      if (accepted[0].length === 0) insertDelivery(delivery, claim);
      if (ready && !known.isQueued && ready[0] === known.hook.updated_at) {
        insertEnded(known.hook, [hookId, executionId], { delivery, ready });
        known.ended++;
        accepted[2].push(at);
      } else {
        insertExecution(known.hook, [hookId, executionId], delivery);
        known.isQueued = true;
      }
      if (usedOldSecret) statements.oldSecretUsed.run(receivedAt, hookId);
      known.fired++;
      accepted[0].push(at);
    });
    return accepted;
  };

  const find = (hookId: string, found: Map<string, MatchedHook>): MatchedHook => {
    const row = statements.hook.get(hookId) as (HookIdentity & { enabled: 0 | 1 }) | undefined;
    const hook = row?.enabled === 1 && row.trigger === 'webhook' ? row : null;
    const isQueued = statements.waiting.get(hookId) !== undefined;
    const known = { hook, fired: 0, ended: 0, isQueued };
    found.set(hookId, known);
    return known;
  };

  /** Returns the ID of the earlier delivery if this one is a duplicate that must not run. */
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

  const insertDelivery = (
    [id, receivedAt, path, method, headers, body, ...rest]: Acceptance[0],
    claim: Acceptance[1],
  ): void => {
    const text = unsharedText(body);
    statements.delivery.run(
      id,
      receivedAt,
      path,
      method,
      headers,
      text,
      ...rest,
      claim?.[0] ?? null,
    );
  };

  const insertExecution = (
    { user_id, trigger, action }: HookIdentity,
    [hookId, executionId]: [string, string],
    [id, at]: Acceptance[0],
  ): void => {
    statements.execution.run(executionId, hookId, user_id, id, trigger, action, at, at);
  };

  const insertEnded = (
    { user_id, trigger, action }: HookIdentity,
    [hookId, executionId]: [string, string],
    {
      delivery: [id, at],
      ready: [, result, notice],
    }: { delivery: Acceptance[0]; ready: InlineEnd },
  ): void => {
    statements.ended.run(executionId, hookId, user_id, id, trigger, action, result, at, at, at);
    post(notice);
  };

  return (acceptances: Acceptance[]): Accepted[] => {
    const found = new Map<string, MatchedHook>();
    const accepted = acceptances.map((each) => accept(each, found));
    const at = acceptances.at(-1)?.[0][1] ?? '';
    for (const [hookId, { fired, ended }] of found) {
      if (fired > 0) statements.count.run(fired, hookId);
      if (ended > 0) statements.countEnded.run(ended, at, hookId);
    }
    return accepted;
  };
};

const prepare = (db: Database.Database) => ({ ...lookups(db), ...writes(db) });

const lookups = (db: Database.Database) => ({
  hook: db.prepare(
    `SELECT h.user_id, h.trigger, h.action, h.updated_at, h.enabled AND u.disabled_at IS NULL AS enabled
     FROM hooks h JOIN users u ON u.id = h.user_id WHERE h.id = ?`,
  ),
  waiting: db.prepare(
    `SELECT 1 FROM executions INDEXED BY executions_waiting
     WHERE hook_id = ? AND run_at IS NOT NULL AND boot IS NULL LIMIT 1`,
  ),
  claimed: db.prepare(
    `SELECT c.delivery_id, e.status, e.effect
     FROM delivery_claims c LEFT JOIN executions e ON e.id = c.execution_id
     WHERE c.hook_id = ? AND c.sender_id = ? AND c.body_digest = unhex(?)`,
  ),
});

const writes = (db: Database.Database) => ({
  claim: db.prepare(
    `INSERT INTO delivery_claims
       (hook_id, sender_id, body_digest, execution_id, delivery_id, claimed_at)
     VALUES (?, ?, unhex(?), ?, ?, ?) ON CONFLICT DO NOTHING`,
  ),
  reclaim: db.prepare(
    `UPDATE delivery_claims SET execution_id = ?, delivery_id = ?
     WHERE hook_id = ? AND sender_id = ? AND body_digest = unhex(?)`,
  ),
  delivery: db.prepare(
    `INSERT INTO deliveries (id, received_at, path, method, headers, body, event, query, sender_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  execution: db.prepare(
    `INSERT INTO executions
       (id, hook_id, user_id, delivery_id, trigger, action, status, created_at, run_at)
     VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?)`,
  ),
  ended: db.prepare(
    `INSERT INTO executions
       (id, hook_id, user_id, delivery_id, trigger, action, status, effect, result, attempts,
        created_at, started_at, finished_at)
     VALUES (?, ?, ?, ?, ?, ?, 'success', 'done', ?, 1, ?, ?, ?)`,
  ),
  ...prepareCounts(db),
});

const prepareCounts = (db: Database.Database) => ({
  countEnded: db.prepare('UPDATE hooks SET runs = runs + ?, last_run_at = ? WHERE id = ?'),
  count: db.prepare('UPDATE hooks SET executions = executions + ? WHERE id = ?'),
  oldSecretUsed: db.prepare('UPDATE hooks SET old_secret_last_used_at = ? WHERE id = ?'),
});
