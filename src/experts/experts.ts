import type { Store } from '../store/store.js';
import type { ExpertRow } from '../store/tables/experts.js';
import { SYSTEM_EXPERTS } from './builtin.js';
import type { Expert } from './expert.js';

/** The experts of a user: the built-in ones and the user's own. */
export interface Experts {
  /** Returns the user's own experts first, newest first, then the built-in ones. */
  list(userId: string): Promise<Expert[]>;
  find(userId: string, id: string): Promise<Expert | undefined>;
}

/**
 * The maximum number of a user's own experts. Ours: there is a limit because a model that chooses
 * an expert reads all of them.
 */
export const MOST_EXPERTS = 100;

export const expertColumns = [
  'id',
  'user_id',
  'name',
  'description',
  'instructions',
  'keywords',
  'tools',
  'topic',
  'model',
  'created_at',
  'updated_at',
] as const;

export const createExperts = ({ db }: Store): Experts => {
  const own = (userId: string) =>
    db.selectFrom('experts').select(expertColumns).where('user_id', '=', userId);
  return {
    list: async (userId) => {
      const rows = await own(userId).orderBy('id', 'desc').limit(MOST_EXPERTS).execute();
      return [...rows.map(expertOf), ...SYSTEM_EXPERTS];
    },
    find: async (userId, id) => {
      const system = SYSTEM_EXPERTS.find((expert) => expert.id === id);
      if (system) return system;
      const row = await own(userId).where('id', '=', id).executeTakeFirst();
      return row && expertOf(row);
    },
  };
};

export const expertOf = (row: ExpertRow): Expert => ({
  id: row.id,
  name: row.name,
  description: row.description,
  instructions: row.instructions,
  keywords: JSON.parse(row.keywords),
  tools: row.tools === null ? null : JSON.parse(row.tools),
  topic: row.topic,
  model: row.model,
});
