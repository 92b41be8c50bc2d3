import { cut } from '../../kernel/page.js';
import { hookColumns } from '../../runtime/hooks/hook.js';
import { executionColumns } from '../../runtime/hooks/run.js';
import { type Store, statement } from '../../store/store.js';
import type { ExecutionRow, ExecutionStatus, HookRow } from '../../store/tables.js';
import type { ExecutionWithDelivery, HookWithStats } from './view.js';

export interface Page {
  limit: number;
  cursor: string | undefined;
}

const delivery = [
  'd.path as d_path',
  'd.method as d_method',
  'd.headers as d_headers',
  'd.body as d_body',
  'd.event as d_event',
  'd.received_at as d_received_at',
] as const;

/** Queries of hooks and their runs, the owner always in the WHERE. */
export const hooksStore = (store: Store) => {
  const { db } = store;

  const hooks = (userId: string) =>
    db
      .selectFrom('hooks')
      .select(hookColumns)
      .select((of) => [
        of
          .selectFrom('executions as e')
          .select('e.created_at')
          .whereRef('e.hook_id', '=', 'hooks.id')
          .orderBy('e.id', 'desc')
          .limit(1)
          .as('last_execution_at'),
        of
          .selectFrom('executions as e')
          .select('e.status')
          .whereRef('e.hook_id', '=', 'hooks.id')
          .orderBy('e.id', 'desc')
          .limit(1)
          .as('last_status'),
      ])
      .where('user_id', '=', userId);

  const executions = (userId: string) =>
    db
      .selectFrom('executions as e')
      .leftJoin('deliveries as d', 'd.id', 'e.delivery_id')
      .select(executionColumns.map((column) => `e.${column}` as const))
      .select(delivery)
      .where('e.user_id', '=', userId);

  return {
    list: async (
      userId: string,
      page: Page,
      filters: { trigger?: HookRow['trigger']; action?: HookRow['action'] },
    ): Promise<{ rows: HookWithStats[]; nextCursor: string | null }> => {
      let query = hooks(userId);
      if (page.cursor !== undefined) query = query.where('id', '<', page.cursor);
      if (filters.trigger) query = query.where('trigger', '=', filters.trigger);
      if (filters.action) query = query.where('action', '=', filters.action);
      const rows = await query
        .orderBy('id', 'desc')
        .limit(page.limit + 1)
        .execute();
      return cut(rows, page.limit);
    },

    get: (userId: string, id: string): Promise<HookWithStats | undefined> =>
      hooks(userId).where('id', '=', id).executeTakeFirst(),

    insert: async (row: HookRow): Promise<void> => {
      await db.insertInto('hooks').values(row).execute();
    },

    /** False where the hook is gone. */
    update: async (userId: string, id: string, changes: Partial<HookRow>): Promise<boolean> => {
      const { numUpdatedRows } = await db
        .updateTable('hooks')
        .set(changes)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** The hook, its runs and its waiting jobs; deliveries are left to retention. */
    delete: async (userId: string, id: string): Promise<boolean> => {
      const [, deleted] = await store.transact([
        statement(db.deleteFrom('jobs').where('lane', '=', id).where('kind', '=', 'execution')),
        statement(db.deleteFrom('hooks').where('user_id', '=', userId).where('id', '=', id)),
      ]);
      return (deleted?.changes ?? 0) > 0;
    },

    executions: async (
      userId: string,
      hookId: string,
      page: Page,
      status: ExecutionStatus | undefined,
    ): Promise<{ rows: ExecutionWithDelivery[]; nextCursor: string | null }> => {
      let query = executions(userId).where('e.hook_id', '=', hookId);
      if (page.cursor !== undefined) query = query.where('e.id', '<', page.cursor);
      if (status) query = query.where('e.status', '=', status);
      const rows = await query
        .orderBy('e.id', 'desc')
        .limit(page.limit + 1)
        .execute();
      return cut(rows.map(joined), page.limit);
    },

    execution: async (
      userId: string,
      hookId: string,
      id: string,
    ): Promise<ExecutionWithDelivery | undefined> => {
      const row = await executions(userId)
        .where('e.hook_id', '=', hookId)
        .where('e.id', '=', id)
        .executeTakeFirst();
      return row && joined(row);
    },

    /** Runs of all of one's hooks after a run, oldest first. */
    after: async (
      userId: string,
      after: string,
      limit: number,
    ): Promise<ExecutionWithDelivery[]> => {
      const rows = await executions(userId)
        .where('e.id', '>', after)
        .orderBy('e.id')
        .limit(limit)
        .execute();
      return rows.map(joined);
    },

    newestExecution: async (userId: string): Promise<string | null> => {
      const row = await db
        .selectFrom('executions')
        .select('id')
        .where('user_id', '=', userId)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.id ?? null;
    },
  };
};

export type HooksStore = ReturnType<typeof hooksStore>;

type Joined = ExecutionRow & {
  d_path: string | null;
  d_method: string | null;
  d_headers: string | null;
  d_body: string | null;
  d_event: string | null;
  d_received_at: string | null;
};

const joined = ({
  d_path,
  d_method,
  d_headers,
  d_body,
  d_event,
  d_received_at,
  ...row
}: Joined) => ({
  ...row,
  delivery:
    d_path === null
      ? null
      : {
          path: d_path,
          method: d_method ?? '',
          headers: d_headers ?? '{}',
          body: d_body ?? 'null',
          event: d_event,
          received_at: d_received_at ?? '',
        },
});
