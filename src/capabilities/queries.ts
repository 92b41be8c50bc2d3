import { sql } from 'kysely';
import type { Store } from '../store/store.js';
import type { InstallInput } from './install.js';

/** Returns the queries of capabilities. Those that are installed are files; their work is operations. */
export const capabilitiesStore = ({ db }: Store) => ({
  /** Lists the slugs of what is being installed, checked or measured, of all users. */
  busy: async (kind: string): Promise<string[]> => {
    const rows = await db
      .selectFrom('operations')
      .select('resource_id')
      // The condition of the index of operations that have not ended.
      .where(sql<boolean>`status IN ('queued', 'running')`)
      // Has the index searched: all users.
      .where('user_id', '>', '')
      .where('kind', '=', kind)
      .execute();
    return rows.map(({ resource_id }) => resource_id);
  },
  /** Lists the slugs of what installations under way put in their places, or need. */
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
  /** Returns true if the operation was cancelled, or is gone. */
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
