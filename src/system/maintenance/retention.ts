import { type Clock, iso } from '../../kernel/clock.js';
import { timeDigits } from '../../kernel/ids.js';
import type { Log } from '../../kernel/log.js';
import { createWatch } from '../../kernel/watch.js';
import type { Store } from '../../store/store.js';

const EVERY_MS = 3600 * 1000;
/** Pause after the start of the daemon, which has more important work then. */
const SETTLING_MS = 60_000;
const BATCH = 500;
const DAY_MS = 24 * 3600 * 1000;

/** Builds the statement that deletes a batch of the rows that meet the condition. */
const deleteBatch = (table: string, condition: string, key = 'id'): string =>
  `DELETE FROM ${table} WHERE (${key}) IN
    (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${BATCH})`;

/** Statements for rows that are deleted a day after they happened. */
const AFTER_A_DAY = [
  deleteBatch('idempotency', 'created_at < @at', 'user_id, route, key'),
  `DELETE FROM login_failures WHERE last_at < @at`,
  `DELETE FROM code_failures WHERE since < @at`,
  `DELETE FROM device_tokens WHERE expires_at < @at`,
  // 30 days after the user was notified of it.
  `DELETE FROM login_places WHERE told_at < strftime('%Y-%m-%dT%H:%M:%fZ', @at, '-29 days')`,
];

/**
 * Statements for rows that are deleted after the days of retention. Ids sort by time, so a range of
 * ids finds old rows without an index that would slow down every delivery. Agents are deleted with
 * their events; a conversation is deleted with the last of its agents.
 */
const AFTER_RETENTION = [
  deleteBatch('auth_sessions', 'expires_at < @at'),
  deleteBatch('access_tokens', 'expires_at < @at'),
  deleteBatch(
    'executions',
    "id < 'execution_' || @digits AND status NOT IN ('queued', 'running') ORDER BY id",
  ),
  `DELETE FROM delivery_claims WHERE claimed_at < @at AND id IN
    (SELECT id FROM delivery_claims ORDER BY id LIMIT ${BATCH})`,
  `DELETE FROM deliveries WHERE id IN
    (SELECT d.id FROM deliveries AS d WHERE d.id < 'delivery_' || @digits
     AND d.id NOT IN (SELECT e.delivery_id FROM executions AS e
       WHERE e.id < 'execution_' || @digits AND e.delivery_id IS NOT NULL)
     AND NOT EXISTS (SELECT 1 FROM executions AS r
       WHERE r.delivery_id = d.id AND r.replay_of IS NOT NULL)
     ORDER BY d.id LIMIT ${BATCH})`,
  deleteBatch(
    'agents',
    "id < 'agent_' || @digits AND finished_at < @at AND status IN ('completed', 'failed', 'stopped')",
  ),
  `DELETE FROM sessions WHERE id IN
    (SELECT s.id FROM sessions AS s WHERE s.id < 'session_' || @digits AND s.updated_at < @at
     AND NOT EXISTS (SELECT 1 FROM agents AS a WHERE a.session_id = s.id) LIMIT ${BATCH})`,
  deleteBatch('approvals', "id < 'approval_' || @digits AND status <> 'pending' ORDER BY id"),
  deleteBatch('notifications', "id < 'notification_' || @digits AND read_at IS NOT NULL"),
  deleteBatch(
    'sendings',
    "id < 'sending_' || @digits AND status NOT IN ('queued', 'sending') ORDER BY id",
  ),
  `DELETE FROM outgoing_events WHERE id IN
    (SELECT e.id FROM outgoing_events AS e WHERE e.id < 'event_' || @digits
     AND NOT EXISTS (SELECT 1 FROM jobs AS j
       WHERE j.lane = 'owner_' || e.user_id AND j.boot IS NULL AND j.ref = e.id)
     ORDER BY e.id LIMIT ${BATCH})`,
  deleteBatch('hook_usage', 'day < substr(@at, 1, 10)', 'hook_id, day'),
  deleteBatch('model_calls', "id < 'usage_' || @digits ORDER BY id"),
];

/** Ours: a notification that nobody has read for a year is deleted. */
const UNREAD_DAYS = 365;
const AFTER_UNREAD = [deleteBatch('notifications', "id < 'notification_' || @digits ORDER BY id")];

/**
 * Keeps the home from growing without limit. It deletes in batches that are small enough to delay
 * nobody.
 */
export const createRetention = (deps: {
  store: Store;
  clock: Clock;
  log: Log;
  retentionDays: number;
  /** Deletes the signing keys that are no longer needed; resolves to their number. */
  forgetKeys(): Promise<number>;
  /** Destroys the versions of credentials whose overlap has ended; resolves to their number. */
  destroyVersions(): Promise<number>;
  /** Removes the folders of agents and hooks that no longer exist; resolves to their number. */
  sweepFolders(): Promise<number>;
}) => {
  const { store, clock, log, retentionDays } = deps;

  const pruneBefore = async (
    statements: string[],
    at: number,
    signal?: AbortSignal,
  ): Promise<number> => {
    let pruned = 0;
    for (const sql of statements) {
      let batch = BATCH;
      while (batch === BATCH && !signal?.aborted) {
        const [outcome] = await store.transact([
          { sql, parameters: [{ at: iso(at), digits: timeDigits(at) }] },
        ]);
        batch = outcome?.changes ?? 0;
        pruned += batch;
      }
    }
    return pruned;
  };

  const pruneRows = async (signal?: AbortSignal): Promise<number> => {
    const now = clock.now();
    const forgotten = await deps.forgetKeys();
    const destroyed = await deps.destroyVersions();
    const passing = forgotten + destroyed + (await pruneBefore(AFTER_A_DAY, now - DAY_MS, signal));
    if (retentionDays === 0) return passing;
    const unreadMs = Math.max(retentionDays, UNREAD_DAYS) * DAY_MS;
    return (
      passing +
      (await pruneBefore(AFTER_RETENTION, now - retentionDays * DAY_MS, signal)) +
      (await pruneBefore(AFTER_UNREAD, now - unreadMs, signal))
    );
  };

  /**
   * Deletes old rows and unused folders until none is left, or the signal aborts. Resolves to the
   * number of both.
   */
  const prune = async (signal?: AbortSignal): Promise<number> =>
    (await pruneRows(signal)) + (await deps.sweepFolders());

  const look = async (signal: AbortSignal): Promise<void> => {
    const pruned = await prune(signal);
    if (pruned > 0) log.info({ pruned }, 'old rows and folders pruned');
  };
  const failed = (err: unknown): void =>
    log.warn({ err }, 'pruning failed, tried again in an hour');

  return {
    prune: prune,
    ...createWatch({ everyMs: EVERY_MS, afterMs: SETTLING_MS, look, failed }),
  };
};
