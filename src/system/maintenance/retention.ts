import { type Clock, iso } from '../../kernel/clock.js';
import { timeDigits } from '../../kernel/ids.js';
import type { Log } from '../../kernel/log.js';
import { createTimer } from '../../schedule/module.js';
import { changeInSteps } from '../../store/rows.js';
import type { Store } from '../../store/store.js';

const EVERY_MS = 3600 * 1000;
/** Pause after the start, when the daemon has more important work. */
const SETTLING_MS = 60_000;
const BATCH = 500;
const DAY_MS = 24 * 3600 * 1000;

const deleteBatch = (table: string, condition: string, key = 'id'): string =>
  `DELETE FROM ${table} WHERE (${key}) IN
    (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${BATCH})`;

const AFTER_A_DAY = [
  deleteBatch('idempotency', 'created_at < @at', 'user_id, route, key'),
  `DELETE FROM login_failures WHERE last_at < @at`,
  `DELETE FROM code_failures WHERE since < @at`,
  deleteBatch('approval_grants', 'expires_at < @at'),
  `DELETE FROM device_tokens WHERE expires_at < @at`,
  // 30 days after the notification.
  `DELETE FROM login_places WHERE told_at < strftime('%Y-%m-%dT%H:%M:%fZ', @at, '-29 days')`,
];

/**
 * Rows that are deleted after the retention period. IDs sort by time, so a range of IDs finds old rows
 * without an index that would slow down deliveries. Agents are deleted with their events, and a
 * conversation with its last agent.
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
 * Deletes deliveries that no execution needs. An execution has the time digits of its delivery's ID, so
 * a range of IDs finds them without an index that would slow down deliveries. A replay has an index.
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

/** An unread notification is deleted after a year. */
const UNREAD_DAYS = 365;
const AFTER_UNREAD = [deleteBatch('notifications', "id < 'notification_' || @digits ORDER BY id")];

/** Deletes in batches that are small enough not to delay other work. */
export const createRetention = (deps: {
  store: Store;
  clock: Clock;
  log: Log;
  retentionDays: number;
  /** Deletes signing keys that are no longer needed. Resolves to their number, like the next two. */
  forgetKeys(): Promise<number>;
  destroyVersions(): Promise<number>;
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

  /** Walks by ID, so that remaining rows are read only once. */
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

  /** Runs until nothing is left or the signal aborts. Resolves to the number of rows and folders. */
  const prune = async (signal?: AbortSignal): Promise<number> =>
    (await pruneRows(signal)) + (await deps.sweepFolders());

  const work = async (signal?: AbortSignal): Promise<void> => {
    const pruned = await prune(signal);
    if (pruned > 0) log.info({ pruned }, 'deleted old rows and folders');
  };
  const timer = { name: 'retention', everyMs: EVERY_MS, settlingMs: SETTLING_MS, work };
  return { prune, source: createTimer({ store, clock }, timer) };
};
