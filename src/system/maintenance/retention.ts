import { type Clock, iso } from '../../kernel/clock.js';
import { timeDigits } from '../../kernel/ids.js';
import type { Log } from '../../kernel/log.js';
import { createTimer } from '../../schedule/module.js';
import { changeInSteps } from '../../store/rows.js';
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
  deleteBatch('approval_grants', 'expires_at < @at'),
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
  deleteBatch(
    'agents',
    "id < 'agent_' || @digits AND finished_at < @at AND status IN ('completed', 'failed', 'stopped')",
  ),
  `DELETE FROM sessions WHERE id IN
    (SELECT s.id FROM sessions AS s WHERE s.id < 'session_' || @digits AND s.updated_at < @at
     AND NOT EXISTS (SELECT 1 FROM agents AS a WHERE a.session_id = s.id) LIMIT ${BATCH})`,
  deleteBatch('approvals', "id < 'approval_' || @digits AND status <> 'pending' ORDER BY id"),
  deleteBatch(
    'sendings',
    "id < 'sending_' || @digits AND status NOT IN ('queued', 'sending') ORDER BY id",
  ),
  `DELETE FROM outgoing_events WHERE id IN
    (SELECT e.id FROM outgoing_events AS e WHERE e.id < 'event_' || @digits
     AND NOT EXISTS (SELECT 1 FROM jobs AS j
       WHERE j.lane = 'owner_' || e.user_id AND j.boot IS NULL AND j.ref = e.id)
     ORDER BY e.id LIMIT ${BATCH})`,
  deleteBatch(
    'pipeline_runs',
    "id < 'pipeline_' || @digits AND finished_at < @at AND parent_id IS NULL ORDER BY id",
  ),
  deleteBatch('operations', "id < 'operation_' || @digits AND finished_at < @at ORDER BY id"),
  deleteBatch(
    'reader_tasks',
    "id < 'readertask_' || @digits AND finished_at < @at AND knowledge_id IS NULL ORDER BY id",
  ),
  deleteBatch(
    'transcriptions',
    "id < 'transcription_' || @digits AND finished_at < @at ORDER BY id",
  ),
  deleteBatch('mail_sent', "id < 'sentmail_' || @digits AND finished_at < @at ORDER BY id"),
  deleteBatch(
    'recurring_runs',
    "id < 'recurringrun_' || @digits AND status NOT IN ('queued', 'running') ORDER BY id",
  ),
  deleteBatch('hook_usage', 'day < substr(@at, 1, 10)', 'hook_id, day'),
  deleteBatch('model_calls', "id < 'usage_' || @digits ORDER BY id"),
];

/**
 * Deletes the deliveries of a range of ids that no execution needs any more. An execution has the
 * time digits of its delivery's id, so a range of ids finds them without an index that would slow
 * down every delivery; a replay is found by its own index.
 */
const DELETE_DELIVERIES = `DELETE FROM deliveries WHERE id BETWEEN @first AND @last
  AND id NOT IN (SELECT e.delivery_id FROM executions AS e
    WHERE e.id >= 'execution_' || substr(@first, 10, 10)
    AND e.id < 'execution_' || substr(@last, 10, 10) || '~' AND e.delivery_id IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM executions AS r
    WHERE r.delivery_id = deliveries.id AND r.replay_of IS NOT NULL)`;

const DELIVERIES = { table: 'deliveries', noun: 'delivery', sql: DELETE_DELIVERIES } as const;

const READ_NOTIFICATIONS = {
  table: 'notifications',
  noun: 'notification',
  sql: `DELETE FROM notifications WHERE id BETWEEN @first AND @last
    AND read_at IS NOT NULL`,
} as const;

type Walked = typeof DELIVERIES | typeof READ_NOTIFICATIONS;

/** The overview shows the minutes of a day. */
const DELETE_MINUTES = `DELETE FROM execution_minutes
  WHERE user_id IN (SELECT id FROM users) AND minute < ?`;

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
      const parameters = [{ at: iso(at), digits: timeDigits(at) }];
      pruned += await changeInSteps(store, [{ sql, parameters }], { step: BATCH, signal });
    }
    return pruned;
  };

  /** Walks the rows of a table by their ids, so that those that stay are looked at once. */
  const walk = async (
    { table, noun, sql }: Walked,
    before: number,
    signal?: AbortSignal,
  ): Promise<number> => {
    let pruned = 0;
    let after = '';
    while (!signal?.aborted) {
      const batch = await store.db
        .selectFrom(table)
        .select('id')
        .where('id', '>', after)
        .where('id', '<', `${noun}_${timeDigits(before)}`)
        .orderBy('id')
        .limit(BATCH)
        .execute();
      const [first, last] = [batch.at(0)?.id, batch.at(-1)?.id];
      if (first === undefined || last === undefined) break;
      const [outcome] = await store.transact([{ sql, parameters: [{ first, last }] }]);
      pruned += outcome?.changes ?? 0;
      after = last;
    }
    return pruned;
  };

  const pruneRows = async (signal?: AbortSignal): Promise<number> => {
    const now = clock.now();
    const forgotten = await deps.forgetKeys();
    const destroyed = await deps.destroyVersions();
    const dayAgo = iso(now - DAY_MS).slice(0, '2026-01-31T09:30'.length);
    await store.transact([{ sql: DELETE_MINUTES, parameters: [dayAgo] }]);
    const passing = forgotten + destroyed + (await pruneBefore(AFTER_A_DAY, now - DAY_MS, signal));
    if (retentionDays === 0) return passing;
    const before = now - retentionDays * DAY_MS;
    const unreadMs = Math.max(retentionDays, UNREAD_DAYS) * DAY_MS;
    return (
      passing +
      (await pruneBefore(AFTER_RETENTION, before, signal)) +
      (await walk(READ_NOTIFICATIONS, before, signal)) +
      (await walk(DELIVERIES, before, signal)) +
      (await pruneBefore(AFTER_UNREAD, now - unreadMs, signal))
    );
  };

  /**
   * Deletes old rows and unused folders until none is left, or the signal aborts. Resolves to the
   * number of both.
   */
  const prune = async (signal?: AbortSignal): Promise<number> =>
    (await pruneRows(signal)) + (await deps.sweepFolders());

  const work = async (signal?: AbortSignal): Promise<void> => {
    const pruned = await prune(signal);
    if (pruned > 0) log.info({ pruned }, 'old rows and folders pruned');
  };
  const timer = { name: 'retention', everyMs: EVERY_MS, settlingMs: SETTLING_MS, work };
  return { prune, source: createTimer({ store, clock }, timer) };
};
