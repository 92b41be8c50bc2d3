import type { Store } from '../store/store.js';
import type { ExpertRow } from '../store/tables/experts.js';
import { expertColumns } from './experts.js';

/**
 * Returns the queries for a user's own experts. A write throws `Taken` if the user has an expert of
 * that name already.
 */
export const expertsStore = ({ db }: Store) => {
  const own = (userId: string) =>
    db.selectFrom('experts').select(expertColumns).where('user_id', '=', userId);
  return {
    /**
     * Returns a page of experts, newest first; `before` is the id of the last expert of the page
     * before.
     */
    list: (userId: string, most: number, before?: string): Promise<ExpertRow[]> => {
      const older = before === undefined ? own(userId) : own(userId).where('id', '<', before);
      return older.orderBy('id', 'desc').limit(most).execute();
    },

    get: (userId: string, id: string): Promise<ExpertRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    /** Returns false if the user has `most` experts already. */
    insert: async (row: ExpertRow, most: number): Promise<boolean> => {
      const count = db
        .selectFrom('experts')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where('user_id', '=', row.user_id);
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('experts')
        .columns([...expertColumns])
        .expression(
          db
            .selectNoFrom((of) => expertColumns.map((column) => of.val(row[column]).as(column)))
            .where(count, '<', most),
        )
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows === 1n;
    },

    /** Returns false if the user has no such expert. */
    update: async (userId: string, id: string, change: Partial<ExpertRow>): Promise<boolean> => {
      const { numUpdatedRows } = await db
        .updateTable('experts')
        .set(change)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    /** Returns false if the user has no such expert. */
    delete: async (userId: string, id: string): Promise<boolean> => {
      const { numDeletedRows } = await db
        .deleteFrom('experts')
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows === 1n;
    },
  };
};

export type ExpertsStore = ReturnType<typeof expertsStore>;
