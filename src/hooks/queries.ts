import { grantedTools, voidHookGrants } from '../approvals/module.js';
import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../store/page.js';
import { changeInSteps, selectRows } from '../store/rows.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import {
  deliveryTable,
  type ExecutionStatus,
  executionTable,
  type HookRow,
  hookTable,
} from '../store/tables/hooks.js';
import { mailAccountTable } from '../store/tables/mail.js';
import { unchangedSince } from '../store/updateif.js';
import { visibleTo } from '../store/visible.js';
import { endDeletion } from './deletion.js';
import { isUnsuccessful } from './executions/queries.js';
import { revokesGrants } from './grants.js';
import type { ExecutionWithDelivery, HookWithStats } from './view.js';

interface HookFilters extends PageInput {
  trigger?: HookRow['trigger'];
  action?: HookRow['action'];
}

/** Rows deleted per transaction: about 5 ms of the writer thread. */
const STEP = 1000;
const DELETE_STEP = [
  `DELETE FROM executions WHERE id IN
    (SELECT id FROM executions WHERE hook_id = ? ORDER BY id LIMIT ${STEP})`,
  `DELETE FROM delivery_claims WHERE id IN
    (SELECT id FROM delivery_claims WHERE hook_id = ? LIMIT ${STEP})`,
];

/** In bytes. A page ends early, because payloads have up to 4 MiB each. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Every WHERE clause contains the owner. */
export const hooksStore = (store: Store) => {
  const { db } = store;

  const hooks = (userId: string, values: Partial<HookRow>) =>
    selectRows(db, hookTable, values, visibleTo(userId)).select((of) => {
      const last = of
        .selectFrom('executions as e')
        .whereRef('e.hook_id', '=', 'hooks.id')
        .orderBy('e.id', 'desc')
        .limit(1);
      return [
        last.select('e.created_at').as('last_execution_at'),
        last.select('e.status').as('last_status'),
      ];
    });

  return {
    list: (
      userId: string,
      { trigger, action, ...page }: HookFilters,
    ): Promise<Page<HookWithStats>> => newestFirst(hooks(userId, { trigger, action }), page),

    get: (userId: string, id: string): Promise<HookWithStats | undefined> =>
      hooks(userId, { id }).executeTakeFirst(),

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
        .where(visibleTo(read.user_id))
        .where('id', '=', read.id)
        .where(unchangedSince(read));
      const ended = revokesGrants(read, changes) ? [voidHookGrants(store, read.id)] : [];
      return isCommitted(store.transact([statement(hook, 1), ...ended, ...also]));
    },

    grantedTools: ({ id, user_id }: HookRow, now: string): Promise<string[]> =>
      grantedTools(store, { userId: user_id, hookId: id, sessionId: null }, now),

    isLarge: async (id: string): Promise<boolean> => {
      const [executions, claims] = await Promise.all(
        (['executions', 'delivery_claims'] as const).map((table) =>
          db
            .selectFrom(table)
            .select('id')
            .where('hook_id', '=', id)
            .offset(STEP)
            .limit(1)
            .execute(),
        ),
      );
      return executions?.length === 1 || claims?.length === 1;
    },

    /**
     * Deletes executions and claims in steps, so that other writes continue. Stops when few are
     * left.
     */
    shrink: async (id: string, signal?: AbortSignal): Promise<void> => {
      const statements = DELETE_STEP.map((sql) => ({ sql, parameters: [id] }));
      await changeInSteps(store, statements, { step: STEP, signal });
    },

    hasMailAccount: async (userId: string, id: string): Promise<boolean> =>
      (await selectRows(db, mailAccountTable, { id }, visibleTo(userId)).executeTakeFirst()) !==
      undefined,

    /** Retention deletes the deliveries. */
    delete: async (userId: string, id: string): Promise<boolean> => {
      const hook = db.deleteFrom('hooks').where(visibleTo(userId)).where('id', '=', id);
      return isCommitted(store.transact([statement(hook, 1), endDeletion(store, id)]));
    },

    ...executionQueries(store),
  };
};

export type HooksStore = ReturnType<typeof hooksStore>;

const executionQueries = ({ db }: Store) => {
  /** SQLite knows the sizes without reading the values. */
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
      .where(visibleTo(userId, 'e'));

  const read = async (
    userId: string,
    ids: string[],
    order: 'asc' | 'desc',
  ): Promise<ExecutionWithDelivery[]> => {
    if (ids.length === 0) return [];
    const own = db.selectFrom('executions').where(visibleTo(userId)).where('id', 'in', ids);
    const [rows, deliveries] = await Promise.all([
      own.select(executionTable.columns).orderBy('id', order).execute(),
      db
        .selectFrom('deliveries')
        .select(deliveryTable.columns)
        .where('id', 'in', own.select('delivery_id'))
        .execute(),
    ]);
    const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
    return rows.map((row) => ({ ...row, delivery: byId.get(row.delivery_id ?? '') ?? null }));
  };

  return {
    executions: async (
      userId: string,
      hookId: string,
      { limit = DEFAULT_LIMIT, cursor, status }: PageInput & { status?: ExecutionStatus },
    ): Promise<Page<ExecutionWithDelivery>> => {
      let query = sizes(userId).where('e.hook_id', '=', hookId);
      if (cursor !== undefined) query = query.where('e.id', '<', cursor);
      if (status) query = query.where('e.status', '=', status);
      if (status && status !== 'success') query = query.where(isUnsuccessful('e'));
      const found = await query
        .orderBy('e.id', 'desc')
        .limit(limit + 1)
        .execute();
      const { rows: fitting, nextCursor } = cutPage(found, Math.min(limit, howManyFit(found)));
      return { rows: await read(userId, fitting.map(getRowId), 'desc'), nextCursor };
    },

    execution: async (
      userId: string,
      hookId: string,
      id: string,
    ): Promise<ExecutionWithDelivery | undefined> => {
      const [row] = await read(userId, [id], 'asc');
      return row?.hook_id === hookId ? row : undefined;
    },

    executionById: async (userId: string, id: string): Promise<ExecutionWithDelivery | undefined> =>
      (await read(userId, [id], 'asc'))[0],

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
      return read(userId, found.slice(0, howManyFit(found)).map(getRowId), 'asc');
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
        .where(visibleTo(userId, 'h'));
      const row = await db
        .selectFrom(newestOfEach.as('newest'))
        .select((of) => of.fn.max('newest.id').as('id'))
        .executeTakeFirst();
      return row?.id ?? null;
    },
  };
};

interface SizedRow {
  id: string;
  body: number | null;
  context: number | null;
  result: number | null;
}

/** At least one row, regardless of its size. */
const howManyFit = (rows: SizedRow[]): number => {
  let bytes = 0;
  const tooMany = rows.findIndex(({ body, context, result }, at) => {
    bytes += (body ?? 0) + (context ?? 0) + (result ?? 0);
    return at > 0 && bytes > PAGE_BYTES;
  });
  return tooMany < 0 ? rows.length : tooMany;
};

const getRowId = ({ id }: SizedRow): string => id;
