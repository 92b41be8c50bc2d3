import { sql } from 'kysely';
import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../store/page.js';
import { insertUpTo, selectCount, selectRows } from '../store/rows.js';
import { assertRows, isCommitted, type Store, statement } from '../store/store.js';
import {
  type RecurringRunStatus,
  type RecurringTaskRow,
  recurringRunTable,
  recurringTaskTable,
} from '../store/tables/recurringtasks.js';
import { unchangedSince } from '../store/updateif.js';
import { visibleTo } from '../store/visible.js';

export const MAX_RECURRING = 1000;

interface RecurringFilter extends PageInput {
  enabled?: boolean | undefined;
  action?: RecurringTaskRow['action'] | undefined;
}

export interface OpenRuns {
  running: number;
  queued: number;
}

export const recurringStore = ({ db, transact }: Store) => {
  const own = (userId: string, values: Partial<RecurringTaskRow> = {}) =>
    selectRows(db, recurringTaskTable, values, visibleTo(userId));

  return {
    list: (userId: string, { enabled, action, ...page }: RecurringFilter) => {
      const flag = enabled === undefined ? undefined : enabled ? 1 : 0;
      return newestFirst(own(userId, { enabled: flag, action }), page);
    },

    get: (userId: string, id: string): Promise<RecurringTaskRow | undefined> =>
      own(userId, { id }).executeTakeFirst(),

    /** Returns false if the user has reached the limit. */
    insert: async (row: RecurringTaskRow): Promise<boolean> => {
      const count = selectCount(db, recurringTaskTable, {}, visibleTo(row.user_id));
      const most = MAX_RECURRING;
      const [inserted] = await insertUpTo(db, recurringTaskTable, row, { count, most }).execute();
      return inserted?.numInsertedOrUpdatedRows === 1n;
    },

    /** Returns false if the row was changed or deleted since it was read. */
    update: (read: RecurringTaskRow, changes: Partial<RecurringTaskRow>): Promise<boolean> => {
      const changed = db
        .updateTable('recurring_tasks')
        .set(changes)
        .where(visibleTo(read.user_id))
        .where('id', '=', read.id)
        .where(unchangedSince(read))
        // It may have fired since it was read, which is not a change by the person.
        .where(sql<boolean>`next_run_at IS ${read.next_run_at}`);
      const isSwitchedOff = read.enabled === 1 && changes.enabled === 0;
      const skipped = isSwitchedOff ? [skipQueued(db, read.id, `${changes.updated_at}`)] : [];
      return isCommitted(transact([statement(changed, 1), ...skipped]));
    },

    delete: (userId: string, id: string): Promise<boolean> =>
      isCommitted(
        transact([
          statement(
            db.deleteFrom('recurring_tasks').where(visibleTo(userId)).where('id', '=', id),
            1,
          ),
        ]),
      ),

    runs: (
      userId: string,
      id: string,
      { status, ...page }: PageInput & { status?: RecurringRunStatus | undefined },
    ) =>
      newestFirst(
        selectRows(db, recurringRunTable, { recurring_task_id: id, status }, visibleTo(userId)),
        page,
      ),

    open: async (id: string): Promise<OpenRuns> => {
      const rows = await openRuns(db, id).execute();
      const queued = rows.filter(({ status }) => status === 'queued').length;
      return { running: rows.length - queued, queued };
    },

    onlyWhile: (id: string, { running, queued }: OpenRuns): Statement =>
      assertRows(openRuns(db, id), running + queued),
  };
};

export type RecurringStore = ReturnType<typeof recurringStore>;

const openRuns = (db: Store['db'], id: string) =>
  db
    .selectFrom('recurring_runs')
    .select('status')
    .where('recurring_task_id', '=', id)
    // The index of open runs contains exactly this condition.
    .where(sql<boolean>`status IN ('queued', 'running')`);

export const lastRunStep = (
  { db }: Store,
  id: string,
  last: Partial<RecurringTaskRow>,
): TransactionStep => statement(db.updateTable('recurring_tasks').set(last).where('id', '=', id));

const skipQueued = (db: Store['db'], id: string, at: string): TransactionStep =>
  statement(
    db
      .updateTable('recurring_runs')
      .set({ status: 'skipped', reason: 'The recurring task was disabled', finished_at: at })
      .where('recurring_task_id', '=', id)
      .where('status', '=', 'queued'),
  );
