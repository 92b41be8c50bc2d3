import { sql } from 'kysely';
import type { Store } from '../store/store.js';
import type { InstallInput } from './install.js';

export const capabilitiesStore = ({ db }: Store) => ({
  /** Slugs, for all users. */
  busy: async (kind: string): Promise<string[]> => {
    const rows = await db
      .selectFrom('operations')
      .select('resource_id')
      // Matches the partial index on unfinished operations.
      .where(sql<boolean>`status IN ('queued', 'running')`)
      // Makes SQLite search the index: all users.
      .where('user_id', '>', '')
      .where('kind', '=', kind)
      .execute();
    return rows.map(({ resource_id }) => resource_id);
  },
  /** Slugs that running installations install or need. */
  needed: async (): Promise<string[]> => {
    const rows = await db
      .selectFrom('operations')
      .select('input')
      .where(sql<boolean>`status IN ('queued', 'running')`)
      .where('user_id', '>', '')
      .where('kind', '=', 'capabilities.install')
      .execute();
    return rows.flatMap(({ input }) => {
      const { plans }: Partial<Pick<InstallInput, 'plans'>> = JSON.parse(input);
      return (plans ?? []).flatMap(({ slug, needs }) => [slug, ...needs]);
    });
  },
  /** True also if the operation is gone. */
  wasCancelled: async (id: string): Promise<boolean> => {
    const row = await db
      .selectFrom('operations')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirst();
    return row === undefined || row.status === 'cancelled';
  },
});

export type CapabilitiesStore = ReturnType<typeof capabilitiesStore>;
