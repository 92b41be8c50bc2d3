import type Database from 'better-sqlite3';
import { type SharedText, unsharedText } from '../../kernel/sharedtext.js';
import {
  type NoticePosting,
  postNotice,
  type QueuedLanes,
} from '../../outbound/procedures/post.js';
import type { ExecutionRow, HookRow } from '../../store/tables/hooks.js';

/**
 * A delivery for the hooks whose secret verified. It is a tuple, because field names would cost the
 * two threads as much time as the values.
 */
export type Acceptance = [
  delivery: [
    id: string,
    receivedAt: string,
    path: string,
    method: string,
    headers: string,
    body: SharedText,
    event: string | null,
    /** The query as JSON; null without one. */
    query: string | null,
  ],
  /**
   * The sender's own id of the delivery and the digest (hex) of the body, which identify a repeat.
   */
  claim: [senderId: string, bodyDigest: string] | null,
  /** The hooks, each with the id of its new execution. */
  hooks: [
    hookId: string,
    executionId: string,
    usedOldSecret: boolean,
    /** Its outcome, if that is known and is all in the database; otherwise it is queued. */
    ready?: ReadyEnd | null,
  ][],
];

/** The outcome of an execution as it was prepared for a version of its hook. */
export type ReadyEnd = [hookUpdatedAt: string, result: string, notice: NoticePosting];

export type Accepted = [
  /** The indexes of the hooks that run. */
  fired: number[],
  /** The id of the earlier delivery, if hooks had this one already. */
  duplicateOf: string | null,
  /** The indexes of the hooks whose executions have ended as they were prepared. */
  ended: number[],
];

type HookIdentity = Pick<HookRow, 'user_id' | 'trigger' | 'action' | 'updated_at'>;

/** A hook as the transaction found it. Nothing else writes while the procedure runs. */
interface MatchedHook {
  /** The hook, or null if it does not run. */
  hook: HookIdentity | null;
  fired: number;
  /** The number of these that have ended. */
  ended: number;
  /** True if executions of the hook wait, which go before one that was prepared. */
  isQueued: boolean;
}

/**
 * Accepts deliveries, which are durable after its transaction. It claims the sender's id for each
 * hook, stores each delivery once, and adds one execution for each hook that runs, which waits. A
 * hook does not run if it was disabled or deleted since its secret was verified, or now has another
 * trigger. A hook of a disabled user counts as disabled. Ours: if an execution ended in error
 * before any effect began, a repeat of its delivery runs it again. In all other cases a repeat runs
 * nothing. An execution that was prepared ends in the same transaction, unless its hook was changed
 * since or earlier executions of the hook wait.
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

  /** Returns the id of the earlier delivery if this one is a repeat that must not run again. */
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
    { delivery: [id, at], ready: [, result, notice] }: { delivery: Acceptance[0]; ready: ReadyEnd },
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
