import { sql } from 'kysely';
import type { Store } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';

export const failingTasks = (db: Store['db'], userId: string, limit: number) =>
  db
    .selectFrom('recurring_tasks')
    .select(['id', 'title', 'last_error', 'last_run_at', 'updated_at'])
    .where(visibleTo(userId))
    // Literally the condition of the index.
    .where(sql<boolean>`failing = 1`)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
