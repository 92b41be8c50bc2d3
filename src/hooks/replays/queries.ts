import { sql } from 'kysely';
import { timeDigits } from '../../kernel/ids.js';
import type { CountedItems } from '../../operations/module.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { selectRows } from '../../store/rows.js';
import type { Store } from '../../store/store.js';
import { type HookRow, hookTable } from '../../store/tables/hooks.js';
import { visibleTo } from '../../store/visible.js';

/** The choice of a user's failed executions. */
export interface FailureFilter {
  userId: string;
  hookId: string | null;
  status: ('error' | 'interrupted')[];
  /** Times in ISO 8601 between which they came about. */
  since: string;
  until: string | null;
  /** The time by which they had failed; absent from operations of earlier versions. */
  failedBy?: string;
  /** The ID before which theirs are: later executions are not meant, whatever the clock says. */
  before: string;
  /** True if effects are repeated that may be done already. */
  force: boolean;
}

/**
 * The reason why a failed execution is not replayed. `replayed`: that has been done, and if it failed, the
 * replay itself is among the failed. `repeated`: its sender sent the delivery again, and that ran.
 * `effect_done`: its effect outside may be done. `exhausted`: its hook has run as often as it may.
 */
type SkipReason = 'replayed' | 'repeated' | 'effect_done' | 'exhausted';

/** The condition of the index of failed executions, which it takes literally. */
const hasFailed = sql<boolean>`e.status IN ('error', 'interrupted')`;

/** Ours: a replay that was skipped has not run, so its execution may be replayed again. */
const WAS_REPLAYED = `EXISTS
  (SELECT 1 FROM executions AS r WHERE r.replay_of = e.id AND r.status <> 'skipped')`;
const CLAIMS = `SELECT 1 FROM delivery_claims AS c
  WHERE c.hook_id = e.hook_id AND c.sender_id = d.sender_id`;
const WAS_REPEATED = `d.sender_id IS NOT NULL AND EXISTS (${CLAIMS})
  AND NOT EXISTS (${CLAIMS} AND c.delivery_id = e.delivery_id)`;
const HAS_EFFECT = `e.effect <> 'none' AND h.action IN ('webhook', 'execute_tool', 'start_pipeline')`;

const IS_EXHAUSTED = 'h.runs >= h.max_executions';

const reasonOf = (force: boolean) =>
  sql<SkipReason | null>`CASE WHEN ${sql.raw(WAS_REPLAYED)} THEN 'replayed'
    WHEN ${sql.raw(WAS_REPEATED)} THEN 'repeated'
    WHEN ${sql.raw(force ? '0' : HAS_EFFECT)} THEN 'effect_done'
    WHEN ${sql.raw(IS_EXHAUSTED)} THEN 'exhausted' END`;

/** Returns the queries for the failed executions of a user, and what replays one of them. */
export const failuresStore = ({ db }: Store) => {
  const failures = (filter: FailureFilter) => {
    const { userId, hookId, status, since, until, before, failedBy } = filter;
    let found = db
      .selectFrom('hooks as h')
      .innerJoin('executions as e', 'e.hook_id', 'h.id')
      .leftJoin('deliveries as d', 'd.id', 'e.delivery_id')
      .where(visibleTo(userId, 'h'))
      .where(hasFailed)
      .where('e.status', 'in', status)
      // The first condition is fast; the second is exact where the clock was set back.
      .where('e.id', '>=', `execution_${timeDigits(Date.parse(since))}`)
      .where('e.created_at', '>=', since)
      .where('e.id', '<', before);
    if (until !== null) found = found.where('e.created_at', '<=', until);
    if (failedBy) found = found.where('e.finished_at', '<=', failedBy);
    return hookId === null ? found : found.where('h.id', '=', hookId);
  };

  return {
    /** Counts them by their hooks and by why they would be skipped, if so. */
    count: (filter: FailureFilter): Promise<CountedItems[]> => {
      const all = failures(filter).select(['h.id as lane', 'h.name', 'e.created_at']);
      return db
        .selectFrom(all.select(reasonOf(filter.force).as('reason')).as('f'))
        .select(['f.lane', 'f.name', 'f.reason'])
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.min('f.created_at').as('oldest'),
          fn.max('f.created_at').as('newest'),
        ])
        .groupBy(['f.lane', 'f.name', 'f.reason'])
        .execute();
    },

    /** Returns the first of them. */
    first: (filter: FailureFilter, limit: number) =>
      failures(filter)
        .select(['e.id', 'e.hook_id as partId', 'e.status', 'e.error', 'e.created_at as createdAt'])
        .select(reasonOf(filter.force).as('skipped'))
        .orderBy('e.id')
        .limit(limit)
        .execute(),

    /** Returns the first of one hook after an ID. */
    after: (
      filter: FailureFilter,
      hookId: string,
      { after, limit }: { after: string; limit: number },
    ) =>
      failures({ ...filter, hookId })
        .select('e.id')
        .select(reasonOf(filter.force).as('reason'))
        .where('e.id', '>', after)
        .orderBy('e.id')
        .limit(limit)
        .execute(),

    /** Returns these hooks of the user. */
    hooks: async (userId: string, ids: string[]): Promise<HookRow[]> =>
      ids.length === 0
        ? []
        : selectRows(db, hookTable, {}, visibleTo(userId)).where('id', 'in', ids).execute(),
  };
};

export type FailuresStore = ReturnType<typeof failuresStore>;

/**
 * Builds the steps that queue a failed execution once more. They throw Unmet if it was replayed
 * meanwhile, or if its hook is gone.
 */
export const replaySteps = (of: string, id: string, at: string): TransactionStep[] => [
  {
    sql: `INSERT INTO executions (id, hook_id, user_id, delivery_id, trigger, action, context,
        status, replay_of, created_at, run_at)
      SELECT ?, e.hook_id, e.user_id, e.delivery_id, h.trigger, h.action, e.context,
        'queued', e.id, ?, ?
      FROM executions AS e JOIN hooks AS h ON h.id = e.hook_id
      WHERE e.id = ? AND e.status IN ('error', 'interrupted') AND NOT ${WAS_REPLAYED}`,
    parameters: [id, at, at, of],
    expect: 1,
  },
  {
    sql: `UPDATE hooks SET executions = executions + 1
      WHERE id = (SELECT hook_id FROM executions WHERE id = ?)`,
    parameters: [id],
    expect: 1,
  },
];
