import { cutPage } from '../kernel/contract/page.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst } from '../store/page.js';
import { type Store, statement, unlessUnmet } from '../store/store.js';
import type { ExecutionRow, ExecutionStatus, HookRow } from '../store/tables/hooks.js';
import { hookColumnNames } from './hook.js';
import { executionColumnNames } from './run.js';
import type { ExecutionWithDelivery, HookWithStats } from './view.js';

export interface HookPage {
  limit: number;
  cursor: string | undefined;
}

/** The size at which a page ends early, in bytes, because payloads may have 4 MiB each. */
const PAGE_BYTES = 4 * 1024 * 1024;

const delivery = [
  'd.path as d_path',
  'd.method as d_method',
  'd.headers as d_headers',
  'd.body as d_body',
  'd.event as d_event',
  'd.received_at as d_received_at',
] as const;

/** Returns the queries for hooks and their executions. The owner is always in the WHERE clause. */
export const hooksStore = (store: Store) => {
  const { db } = store;

  const hooks = (userId: string) =>
    db
      .selectFrom('hooks')
      .select(hookColumnNames)
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

  /** Selects only the sizes of executions, which SQLite knows without reading the values. */
  const sizes = (userId: string) =>
    db
      .selectFrom('executions as e')
      .leftJoin('deliveries as d', 'd.id', 'e.delivery_id')
      .select('e.id')
      .select((of) => [
        of.fn<number | null>('octet_length', ['d.body']).as('body'),
        of.fn<number | null>('octet_length', ['e.context']).as('context'),
        of.fn<number | null>('octet_length', ['e.result']).as('result'),
      ])
      .where('e.user_id', '=', userId);

  const executions = (userId: string) =>
    db
      .selectFrom('executions as e')
      .leftJoin('deliveries as d', 'd.id', 'e.delivery_id')
      .select(executionColumnNames.map((column) => `e.${column}` as const))
      .select(delivery)
      .where('e.user_id', '=', userId);

  return {
    list: async (
      userId: string,
      page: HookPage,
      filters: { trigger?: HookRow['trigger']; action?: HookRow['action'] },
    ): Promise<{ rows: HookWithStats[]; nextCursor: string | null }> => {
      let query = hooks(userId);
      if (filters.trigger) query = query.where('trigger', '=', filters.trigger);
      if (filters.action) query = query.where('action', '=', filters.action);
      return newestFirst(query, page);
    },

    get: (userId: string, id: string): Promise<HookWithStats | undefined> =>
      hooks(userId).where('id', '=', id).executeTakeFirst(),

    insert: async (row: HookRow): Promise<void> => {
      await db.insertInto('hooks').values(row).execute();
    },

    /** Returns false if the hook was changed or deleted since it was read. */
    update: async (
      read: HookRow,
      changes: Partial<HookRow>,
      also: TransactionStep[],
    ): Promise<boolean> => {
      const hook = db
        .updateTable('hooks')
        .set(changes)
        .where('user_id', '=', read.user_id)
        .where('id', '=', read.id)
        .where('updated_at', '=', read.updated_at);
      return unlessUnmet(store.transact([statement(hook, 1), ...also]));
    },

    /** Deletes the hook, its executions and its waiting jobs; deliveries are left to retention. */
    delete: async (userId: string, id: string): Promise<boolean> => {
      const hook = db.deleteFrom('hooks').where('user_id', '=', userId).where('id', '=', id);
      const jobs = db.deleteFrom('jobs').where('lane', '=', id).where('kind', '=', 'execution');
      return unlessUnmet(store.transact([statement(hook, 1), statement(jobs)]));
    },

    executions: async (
      userId: string,
      hookId: string,
      page: HookPage,
      status: ExecutionStatus | undefined,
    ): Promise<{ rows: ExecutionWithDelivery[]; nextCursor: string | null }> => {
      let query = sizes(userId).where('e.hook_id', '=', hookId);
      if (page.cursor !== undefined) query = query.where('e.id', '<', page.cursor);
      if (status) query = query.where('e.status', '=', status);
      const found = await query
        .orderBy('e.id', 'desc')
        .limit(page.limit + 1)
        .execute();
      const { rows: fitting, nextCursor } = cutPage(found, Math.min(page.limit, howManyFit(found)));
      const rows = await executions(userId)
        .where('e.id', 'in', fitting.map(idOf))
        .orderBy('e.id', 'desc')
        .execute();
      return { rows: rows.map(joined), nextCursor };
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

    /** Returns the executions of all hooks of a user after the given one, oldest first. */
    after: async (
      userId: string,
      after: string,
      limit: number,
    ): Promise<ExecutionWithDelivery[]> => {
      const found = await sizes(userId)
        .where('e.id', '>', after)
        .orderBy('e.id')
        .limit(limit)
        .execute();
      const fitting = found.slice(0, howManyFit(found));
      const rows = await executions(userId)
        .where('e.id', 'in', fitting.map(idOf))
        .orderBy('e.id')
        .execute();
      return rows.map(joined);
    },

    newestExecution: async (userId: string): Promise<string | null> => {
      const newestOfEach = db
        .selectFrom('hooks as h')
        .select((of) =>
          of
            .selectFrom('executions as e')
            .select('e.id')
            .whereRef('e.hook_id', '=', 'h.id')
            .orderBy('e.id', 'desc')
            .limit(1)
            .as('id'),
        )
        .where('h.user_id', '=', userId);
      const row = await db
        .selectFrom(newestOfEach.as('newest'))
        .select((of) => of.fn.max('newest.id').as('id'))
        .executeTakeFirst();
      return row?.id ?? null;
    },
  };
};

export type HooksStore = ReturnType<typeof hooksStore>;

interface Sized {
  id: string;
  body: number | null;
  context: number | null;
  result: number | null;
}

/** Returns how many rows fit into a page, at least one, however large it is. */
const howManyFit = (rows: Sized[]): number => {
  let bytes = 0;
  const tooMany = rows.findIndex(({ body, context, result }, at) => {
    bytes += (body ?? 0) + (context ?? 0) + (result ?? 0);
    return at > 0 && bytes > PAGE_BYTES;
  });
  return tooMany < 0 ? rows.length : tooMany;
};

const idOf = ({ id }: Sized): string => id;

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
