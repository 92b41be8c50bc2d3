import { type TransactionStep, UniqueViolation } from '../../store/engine/protocol.js';
import { selectRows } from '../../store/rows.js';
import { isCommitted, type Store, statement } from '../../store/store.js';
import { type PlatformRow, platformTable } from '../../store/tables/platforms.js';
import { unchangedSince } from '../../store/updateif.js';

type StoredPlatformKind = PlatformRow['kind'];

export const platformsStore = (store: Store) => {
  const { db } = store;
  return {
    list: (): Promise<PlatformRow[]> =>
      db.selectFrom('platforms').select(platformTable.columns).execute(),

    get: (kind: StoredPlatformKind): Promise<PlatformRow | undefined> =>
      selectRows(db, platformTable, { kind }).executeTakeFirst(),

    /** Resolves to false if they changed since `before` was read. */
    replace: async (
      before: PlatformRow | undefined,
      row: PlatformRow,
      also: TransactionStep[],
    ): Promise<boolean> => {
      const change = before
        ? db
            .updateTable('platforms')
            .set(row)
            .where('kind', '=', row.kind)
            .where(unchangedSince(before))
        : db.insertInto('platforms').values(row);
      try {
        return await isCommitted(store.transact([statement(change, 1), ...also]));
      } catch (error) {
        if (error instanceof UniqueViolation) return false;
        throw error;
      }
    },

    /** Resolves to false if there were none. */
    delete: (kind: StoredPlatformKind, also: TransactionStep[]): Promise<boolean> => {
      const removal = db.deleteFrom('platforms').where('kind', '=', kind);
      return isCommitted(store.transact([statement(removal, 1), ...also]));
    },
  };
};

export type PlatformsStore = ReturnType<typeof platformsStore>;
