import { sql } from 'kysely';
import { timeDigits } from '../../kernel/ids.js';
import type { CountedItems } from '../../operations/module.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { selectRows } from '../../store/rows.js';
import type { Store } from '../../store/store.js';
import { type HookRow, hookTable } from '../../store/tables/hooks.js';
import { visibleTo } from '../../store/visible.js';

export interface FailureFilter {
  userId: string;
  hookId: string | null;
  status: ('error' | 'interrupted')[];
  /** Creation times, ISO 8601. */
  since: string;
  until: string | null;
  /** Absent in operations of earlier versions. */
  failedBy?: string;
  /** Excludes later executions, even if the clock was set back. */
  before: string;
  force: boolean;
}

/**
 * `replayed`: already replayed; a failed replay is listed itself. `repeated`: the sender sent the
 * delivery again. `effect_done`: the action may already have run. `exhausted`: `maxExecutions` is
 * reached.
 */
type SkipReason = 'replayed' | 'repeated' | 'effect_done' | 'exhausted';

/** The index contains this condition as a literal. */
const hasFailed = sql<boolean>`e.status IN ('error', 'interrupted')`;

/** A skipped replay did not run, so the execution may be replayed again. */
const WAS_REPLAYED = `EXISTS
  (SELECT 1 FROM executions AS r WHERE r.replay_of = e.id AND r.status <> 'skipped')`;
const CLAIMS = `SELECT 1 FROM delivery_claims AS c
  WHERE c.hook_id = e.hook_id AND c.sender_id = d.sender_id`;
const WAS_REPEATED = `d.sender_id IS NOT NULL AND EXISTS (${CLAIMS})
  AND NOT EXISTS (${CLAIMS} AND c.delivery_id = e.delivery_id)`;
const HAS_EFFECT = `e.effect <> 'none' AND h.action IN ('webhook', 'execute_tool', 'start_pipeline')`;

const IS_EXHAUSTED = 'h.runs >= h.max_executions';

const selectSkipReason = (force: boolean) =>
  sql<SkipReason | null>`CASE WHEN ${sql.raw(WAS_REPLAYED)} THEN 'replayed'
    WHEN ${sql.raw(WAS_REPEATED)} THEN 'repeated'
    WHEN ${sql.raw(force ? '0' : HAS_EFFECT)} THEN 'effect_done'
    WHEN ${sql.raw(IS_EXHAUSTED)} THEN 'exhausted' END`;

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
      // The first condition uses the index. The second is exact if the clock was set back.
      .where('e.id', '>=', `execution_${timeDigits(Date.parse(since))}`)
      .where('e.created_at', '>=', since)
      .where('e.id', '<', before);
    if (until !== null) found = found.where('e.created_at', '<=', until);
    if (failedBy) found = found.where('e.finished_at', '<=', failedBy);
    return hookId === null ? found : found.where('h.id', '=', hookId);
  };

  return {
    count: (filter: FailureFilter): Promise<CountedItems[]> => {
      const all = failures(filter).select(['h.id as lane', 'h.name', 'e.created_at']);
      return db
        .selectFrom(all.select(selectSkipReason(filter.force).as('reason')).as('f'))
        .select(['f.lane', 'f.name', 'f.reason'])
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.min('f.created_at').as('oldest'),
          fn.max('f.created_at').as('newest'),
        ])
        .groupBy(['f.lane', 'f.name', 'f.reason'])
        .execute();
    },

    first: (filter: FailureFilter, limit: number) =>
      failures(filter)
        .select(['e.id', 'e.hook_id as partId', 'e.status', 'e.error', 'e.created_at as createdAt'])
        .select(selectSkipReason(filter.force).as('skipped'))
        .orderBy('e.id')
        .limit(limit)
        .execute(),

    after: (
      filter: FailureFilter,
      hookId: string,
      { after, limit }: { after: string; limit: number },
    ) =>
      failures({ ...filter, hookId })
        .select('e.id')
        .select(selectSkipReason(filter.force).as('reason'))
        .where('e.id', '>', after)
        .orderBy('e.id')
        .limit(limit)
        .execute(),

    hooks: async (userId: string, ids: string[]): Promise<HookRow[]> =>
      ids.length === 0
        ? []
        : selectRows(db, hookTable, {}, visibleTo(userId)).where('id', 'in', ids).execute(),
  };
};

export type FailuresStore = ReturnType<typeof failuresStore>;

/** Throws Unmet if the execution was replayed or its hook was deleted in the meantime. */
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
