import { sql } from 'kysely';
import type { Store } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';

/** Returns the recurring tasks of a user of which the last run failed, newest first. */
export const failingTasks = (db: Store['db'], userId: string, limit: number) =>
  db
    .selectFrom('recurring_tasks')
    .select(['id', 'title', 'last_error', 'last_run_at', 'updated_at'])
    .where(visibleTo(userId))
    // The index of these takes this condition literally.
    .where(sql<boolean>`failing = 1`)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
