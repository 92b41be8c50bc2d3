import { sql } from 'kysely';
import type { Static } from '../kernel/contract/schema.js';
import type { Statement } from '../store/engine/protocol.js';
import { newestFirst, type Page } from '../store/page.js';
import { insertUpTo, selectCount, selectRows } from '../store/rows.js';
import { type Store, statement } from '../store/store.js';
import {
  type OperationProgress,
  type OperationRow,
  operationTable,
} from '../store/tables/operations.js';
import { visibleTo } from '../store/visible.js';
import type { operations } from './contract.js';

type OperationFilters = Static<(typeof operations)['list']['query']>;

/** The condition of an index, which must be literal. */
const isUnended = sql<boolean>`status IN ('queued', 'running')`;

type StoredEnd = Pick<OperationRow, 'status' | 'progress' | 'result' | 'error' | 'finished_at'>;

/** Statements are for a transaction of the caller. */
export const operationsStore = ({ db }: Store) => ({
  list: (
    userId: string,
    { kind, status, resource, ...page }: OperationFilters,
  ): Promise<Page<OperationRow>> => {
    const [resource_kind, resource_id] = splitResource(resource);
    const values = { kind, status, resource_kind, resource_id };
    const rows = selectRows(db, operationTable, values, visibleTo(userId));
    const isOpen = status === 'queued' || status === 'running';
    return newestFirst(isOpen ? rows.where(isUnended) : rows, page);
  },

  get: (userId: string, id: string): Promise<OperationRow | undefined> =>
    selectRows(db, operationTable, { id }, visibleTo(userId)).executeTakeFirst(),

  /** Finds an operation of any user. */
  find: (id: string): Promise<OperationRow | undefined> =>
    selectRows(db, operationTable, { id }).executeTakeFirst(),

  /** True if the owner may still run it. */
  isAllowed: async (id: string, isAdmins: boolean): Promise<boolean> => {
    const owner = db
      .selectFrom('operations as o')
      .innerJoin('users as u', 'u.id', 'o.user_id')
      .select('u.role')
      .where('o.id', '=', id)
      .where('u.disabled_at', 'is', null);
    const row = await owner.executeTakeFirst();
    return row !== undefined && (!isAdmins || row.role === 'admin');
  },

  /** Fails if the user already has `most` unfinished operations of the kind. */
  insert: (row: OperationRow, most: number): Statement => {
    const { user_id, kind } = row;
    const count = selectCount(db, operationTable, { user_id, kind }, isUnended);
    return statement(insertUpTo(db, operationTable, row, { count, most }), 1);
  },

  begin: (id: string, startedAt: string): Statement =>
    statement(
      db
        .updateTable('operations')
        .set({ status: 'running', started_at: startedAt })
        .where('id', '=', id)
        .where('status', '=', 'queued'),
      1,
    ),

  /** Stores the checkpoint if the owner may still run the operation. */
  advance: (
    id: string,
    { checkpoint, progress }: { checkpoint: unknown; progress: OperationProgress },
    isAdmins: boolean,
  ): Statement => ({
    sql: `UPDATE operations SET checkpoint = ?, progress = ?
      WHERE id = ? AND status = 'running' AND EXISTS (SELECT 1 FROM users AS u
        WHERE u.id = operations.user_id AND u.disabled_at IS NULL
          ${isAdmins ? `AND u.role = 'admin'` : ''})`,
    parameters: [JSON.stringify(checkpoint), JSON.stringify(progress), id],
    expect: 1,
  }),

  end: (id: string, end: StoredEnd): Statement =>
    statement(
      db
        .updateTable('operations')
        .set(end)
        .where('id', '=', id)
        .where('status', 'in', ['queued', 'running']),
      1,
    ),

  /** Deletes the queued job of an operation. */
  dropWaiting: ({ user_id, id }: OperationRow, isHeavy: boolean): Statement =>
    statement(
      db
        .deleteFrom('jobs')
        .where('lane', '=', operationLane(user_id, isHeavy))
        .where('boot', 'is', null)
        .where('ref', '=', id),
    ),
});

export type OperationsStore = ReturnType<typeof operationsStore>;

/** Heavy operations, which wait for a worker process, have a separate lane. */
export const operationLane = (userId: string, isHeavy: boolean): string =>
  `${isHeavy ? 'heavy' : 'operations'}_${userId}`;

const splitResource = (resource: string | undefined): (string | undefined)[] => {
  if (resource === undefined) return [];
  const at = resource.indexOf(':');
  return [resource.slice(0, at), resource.slice(at + 1)];
};
