import { sql } from 'kysely';
import { iso } from '../../kernel/clock.js';
import { timeDigits } from '../../kernel/ids.js';
import type { Store } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';

/** More failures are not counted, so that the overview stays fast. */
const MAX_COUNTED = 10_000;

/** Times are ISO 8601, `since` is in milliseconds. */
export const overviewStore = ({ db }: Store) => {
  const minutesSince = (userId: string, since: number) =>
    db
      .selectFrom('execution_minutes')
      .where(visibleTo(userId))
      .where('minute', '>=', formatIsoMinute(since));

  const failedSince = (userId: string, since: number) =>
    db
      .selectFrom('executions as e')
      .where(visibleTo(userId, 'e'))
      // Literally the condition of the index.
      .where(sql<boolean>`e.status = 'error'`)
      // The first condition is fast. The second is needed because IDs continue from the newest one
      // after the clock was set back.
      .where('e.id', '>=', `execution_${timeDigits(since)}`)
      .where('e.created_at', '>=', iso(since));

  return {
    failing: (userId: string, limit: number) => failingTasks(db, userId, limit),
    stages: (userId: string, limit: number) => waitingStages(db, userId, limit),
    /** Executions that began in each minute. */
    perMinute: (userId: string, since: number) =>
      minutesSince(userId, since).select(['minute', 'count']).execute(),

    /** Counts from the beginning of the minute. */
    executions: async (userId: string, since: number): Promise<number> => {
      const all = minutesSince(userId, since).select(({ fn }) => fn.sum<number>('count').as('sum'));
      return (await all.executeTakeFirst())?.sum ?? 0;
    },

    failures: async (userId: string, since: number): Promise<number> => {
      const some = failedSince(userId, since).select('e.id').limit(MAX_COUNTED).as('counted');
      const { count } = await db
        .selectFrom(some)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return count;
    },

    failed: (userId: string, since: number, limit: number) =>
      failedSince(userId, since)
        .innerJoin('hooks as h', 'h.id', 'e.hook_id')
        .select(['e.id', 'e.hook_id', 'h.name', 'e.error', 'e.agent_id', 'e.created_at'])
        .select('e.finished_at')
        .orderBy('e.id', 'desc')
        .limit(limit)
        .execute(),

    agentsByStatus: (userId: string) =>
      db
        .selectFrom('agents')
        .select((of) => ['status', of.fn.countAll<number>().as('count')])
        .where(visibleTo(userId))
        .where('status', 'in', ['queued', 'running', 'waiting_approval', 'paused'])
        .groupBy('status')
        .execute(),

    operationsByStatus: (userId: string) =>
      db
        .selectFrom('operations')
        .select((of) => ['status', of.fn.countAll<number>().as('count')])
        .where(visibleTo(userId))
        // Literally the condition of the index.
        .where(sql<boolean>`status IN ('queued', 'running')`)
        .groupBy('status')
        .execute(),

    agentsSince: async (userId: string, since: number): Promise<number> => {
      const { count } = await db
        .selectFrom('agents')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where(visibleTo(userId))
        .where('id', '>=', `agent_${timeDigits(since)}`)
        .where('created_at', '>=', iso(since))
        .executeTakeFirstOrThrow();
      return count;
    },

    costOf: async (userId: string, day: string): Promise<number> => {
      const row = await db
        .selectFrom('daily_usage')
        .select('cost_usd')
        .where(visibleTo(userId))
        .where('day', '=', day)
        .executeTakeFirst();
      return row?.cost_usd ?? 0;
    },

    /** The first to expire first. */
    approvals: (userId: string, limit: number) =>
      db
        .selectFrom('approvals')
        .select(['id', 'tool', 'action', 'reason', 'agent_id', 'untrusted', 'created_at'])
        .select('expires_at')
        .select(sql<string | null>`json_extract(arguments, '$.method')`.as('method'))
        .select(sql<string | null>`substr(json_extract(arguments, '$.url'), 1, 400)`.as('url'))
        .where(visibleTo(userId))
        .where(sql<boolean>`status = 'pending'`)
        .orderBy('expires_at')
        .limit(limit)
        .execute(),

    /** Newest first. */
    unconfirmed: (userId: string, limit: number) =>
      db
        .selectFrom('memories')
        .select(['id', 'text', 'created_by', 'created_at'])
        .where(visibleTo(userId))
        // Literally the condition of the index.
        .where(sql<boolean>`confirmed = 0`)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),

    /** The first to expire first. */
    expiring: (userId: string, until: string, limit: number) =>
      db
        .selectFrom('credentials')
        .select(['id', 'name', 'type', 'expires_at'])
        .where(visibleTo(userId))
        .where('expires_at', '<=', until)
        .orderBy('expires_at')
        .limit(limit)
        .execute(),

    unread: async (userId: string): Promise<number> => {
      const { count } = await db
        .selectFrom('notifications')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where(visibleTo(userId))
        .where('read_at', 'is', null)
        .executeTakeFirstOrThrow();
      return count;
    },
  };
};

const formatIsoMinute = (ms: number): string => iso(ms).slice(0, '2026-01-31T09:30'.length);

export type OverviewStore = ReturnType<typeof overviewStore>;

const failingTasks = (db: Store['db'], userId: string, limit: number) =>
  db
    .selectFrom('recurring_tasks')
    .select(['id', 'title', 'last_error', 'last_run_at', 'updated_at'])
    .where(visibleTo(userId))
    // Literally the condition of the index.
    .where(sql<boolean>`failing = 1`)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

/** Stages that wait for an answer, the first to expire first. */
const waitingStages = (db: Store['db'], userId: string, limit: number) =>
  db
    .selectFrom('pipeline_runs as r')
    .innerJoin('pipeline_stages as s', 's.run_id', 'r.id')
    .select(['r.id', 'r.name', 'r.parent_id', 's.key', 's.untrusted', 's.due_at'])
    .where(visibleTo(userId, 'r'))
    .where('r.status', 'in', ['running', 'waiting'])
    .where('s.status', 'in', ['waiting_approval', 'waiting_input'])
    .orderBy('s.due_at')
    .limit(limit)
    .execute();
