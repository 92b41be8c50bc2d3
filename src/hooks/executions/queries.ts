import { sql } from 'kysely';
import { cutPage, DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import type { Page, PageInput } from '../../store/page.js';
import type { Store } from '../../store/store.js';
import type { ExecutionRow, ExecutionStatus } from '../../store/tables/hooks.js';
import { visibleTo } from '../../store/visible.js';
import { MAX_ERROR_LENGTH } from './contract.js';

export type RecentExecution = Omit<
  ExecutionRow,
  'delivery_id' | 'context' | 'effect' | 'result' | 'hops' | 'run_at' | 'boot'
> & { hook_name: string; event: string | null };

interface RecentFilter extends PageInput {
  status?: ExecutionStatus;
  hookId?: string;
}

export const executionsStore = ({ db }: Store) => {
  /** Reads a page per hook by the index of its executions, because there is no index by user. */
  const newest = (
    userId: string,
    { limit = DEFAULT_LIMIT, cursor, status, hookId }: RecentFilter,
  ) =>
    db
      .selectFrom('hooks as h')
      .innerJoin('executions as e', 'e.hook_id', 'h.id')
      .select('e.id')
      .where(visibleTo(userId, 'h'))
      .$if(hookId !== undefined, (of) => of.where('h.id', '=', hookId ?? ''))
      .where('e.id', 'in', (of) => {
        let own = of
          .selectFrom('executions as x')
          .select('x.id')
          .whereRef('x.hook_id', '=', 'h.id');
        if (cursor !== undefined) own = own.where('x.id', '<', cursor);
        if (status) own = own.where('x.status', '=', status);
        // The index contains the condition as a literal.
        if (status && status !== 'success') own = own.where(isUnsuccessful('x'));
        return own.orderBy('x.id', 'desc').limit(limit + 1);
      })
      .orderBy('e.id', 'desc')
      .limit(limit + 1);

  return {
    recent: async (userId: string, filter: RecentFilter): Promise<Page<RecentExecution>> => {
      const rows = await db
        .selectFrom(newest(userId, filter).as('n'))
        .innerJoin('executions as e', 'e.id', 'n.id')
        .innerJoin('hooks as h', 'h.id', 'e.hook_id')
        .leftJoin('deliveries as d', 'd.id', 'e.delivery_id')
        .select(['e.id', 'e.hook_id', 'h.name as hook_name', 'e.status', 'e.trigger', 'e.action'])
        .select(['e.attempts', 'e.agent_id', 'e.replay_of', 'e.created_at', 'e.started_at'])
        .select(['e.finished_at', 'e.user_id'])
        .select([
          sql<string | null>`coalesce(d.event, e.context ->> '$.event')`.as('event'),
          sql<string | null>`substr(e.error, 1, ${MAX_ERROR_LENGTH})`.as('error'),
        ])
        .orderBy('e.id', 'desc')
        .execute();
      return cutPage(rows, filter.limit ?? DEFAULT_LIMIT);
    },
  };
};

export type ExecutionsStore = ReturnType<typeof executionsStore>;

/**
 * Condition of the partial index of unsuccessful executions, which contains it as a literal.
 * `table` is the alias of the executions.
 */
export const isUnsuccessful = (table: string) =>
  sql<boolean>`${sql.ref(`${table}.status`)} <> 'success'`;
