import { Taken, type TransactionStep } from '../../store/engine/protocol.js';
import { type Store, statement, unlessUnmet } from '../../store/store.js';
import { type PlatformRow, platformColumns } from '../../store/tables/platforms.js';

type StoredPlatformKind = PlatformRow['kind'];

export const platformsStore = (store: Store) => {
  const { db } = store;
  return {
    list: (): Promise<PlatformRow[]> =>
      db.selectFrom('platforms').select(platformColumns).execute(),

    get: (kind: StoredPlatformKind): Promise<PlatformRow | undefined> =>
      db
        .selectFrom('platforms')
        .select(platformColumns)
        .where('kind', '=', kind)
        .executeTakeFirst(),

    /**
     * Replaces the settings. Resolves to false if somebody else changed them since `before` was
     * read.
     */
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
            .where('updated_at', '=', before.updated_at)
        : db.insertInto('platforms').values(row);
      try {
        return await unlessUnmet(store.transact([statement(change, 1), ...also]));
      } catch (error) {
        if (error instanceof Taken) return false;
        throw error;
      }
    },

    /** Deletes the settings. Resolves to false if there were none. */
    delete: (kind: StoredPlatformKind, also: TransactionStep[]): Promise<boolean> => {
      const removal = db.deleteFrom('platforms').where('kind', '=', kind);
      return unlessUnmet(store.transact([statement(removal, 1), ...also]));
    },
  };
};

export type PlatformsStore = ReturnType<typeof platformsStore>;
