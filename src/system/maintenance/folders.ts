import type { Store } from '../../store/store.js';
import type { WorkFolders } from '../../tools/module.js';

const BATCH = 500;

/**
 * Removes the work folders of agents and hooks that no longer exist; a kill can leave one as well. A
 * folder is created after its row, so that none in use is removed.
 */
export const sweepFolders = async (store: Store, work: WorkFolders): Promise<number> => {
  let swept = 0;
  for (const userId of await work.users()) {
    const names = (await work.names(userId)).filter((name) => /^(agent|hook)_/.test(name));
    for (let at = 0; at < names.length; at += BATCH) {
      const batch = names.slice(at, at + BATCH);
      const kept = await known(store, batch);
      const gone = batch.filter((name) => !kept.has(name));
      for (const name of gone) await work.remove(userId, name);
      swept += gone.length;
    }
  }
  return swept;
};

const known = async ({ db }: Store, ids: string[]): Promise<Set<string>> => {
  const rows = await db
    .selectFrom('agents')
    .select('id')
    .where('id', 'in', ids)
    .unionAll(db.selectFrom('hooks').select('id').where('id', 'in', ids))
    .execute();
  return new Set(rows.map(({ id }) => id));
};
