import { type Compilable, isCommitted, type Store, statement } from '../store/store.js';
import { type ExpertRow, expertTable } from '../store/tables/experts.js';
import { viewer } from '../store/view.js';
import { visibleTo } from '../store/visible.js';
import { SYSTEM_EXPERTS } from './builtin.js';
import { ExpertReply } from './contract.js';
import type { Expert } from './expert.js';

/** Limited because a model that chooses an expert reads all of them. */
export const MAX_EXPERTS = 100;

/** A write throws `UniqueViolation` if the name exists. */
export const expertsStore = ({ db, transact }: Store) => {
  const isWritten = (query: Compilable) => isCommitted(transact([statement(query, 1)]));
  const own = (userId: string) =>
    db.selectFrom('experts').select(expertTable.columns).where(visibleTo(userId));
  return {
    /** `before` is the ID of the last expert of the previous page. */
    list: (userId: string, most: number, before?: string): Promise<ExpertRow[]> => {
      const older = before === undefined ? own(userId) : own(userId).where('id', '<', before);
      return older.orderBy('id', 'desc').limit(most).execute();
    },

    get: (userId: string, id: string): Promise<ExpertRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    /** Returns false if the limit is reached. */
    insert: (row: ExpertRow, most: number): Promise<boolean> => {
      const count = db
        .selectFrom('experts')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where(visibleTo(row.user_id));
      const values = db
        .selectNoFrom((of) => expertTable.columns.map((column) => of.val(row[column]).as(column)))
        .where(count, '<', most);
      return isWritten(db.insertInto('experts').columns(expertTable.columns).expression(values));
    },

    update: (userId: string, id: string, change: Partial<ExpertRow>): Promise<boolean> =>
      isWritten(
        db.updateTable('experts').set(change).where(visibleTo(userId)).where('id', '=', id),
      ),

    delete: (userId: string, id: string): Promise<boolean> =>
      isWritten(db.deleteFrom('experts').where(visibleTo(userId)).where('id', '=', id)),
  };
};

export type ExpertsStore = ReturnType<typeof expertsStore>;

export const createExperts = (store: Store) => {
  const own = expertsStore(store);
  return {
    /** Newest first, then the built-in experts. */
    list: async (userId: string): Promise<Expert[]> => [
      ...(await own.list(userId, MAX_EXPERTS)).map(viewOwn),
      ...SYSTEM_EXPERTS,
    ],
    find: async (userId: string, id: string): Promise<Expert | undefined> => {
      const system = SYSTEM_EXPERTS.find((expert) => expert.id === id);
      if (system) return system;
      const row = await own.get(userId, id);
      return row && viewOwn(row);
    },
  };
};

export type Experts = ReturnType<typeof createExperts>;

export const viewOwn = viewer(expertTable, ExpertReply, { source: (): 'custom' => 'custom' });
