import type { Store } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';

/** Stages that wait for an answer, the first to expire first. */
export const waitingStages = (db: Store['db'], userId: string, limit: number) =>
  db
    .selectFrom('pipeline_runs as r')
    .innerJoin('pipeline_stages as s', 's.run_id', 'r.id')
    .select(['r.id', 'r.name', 'r.parent_id', 's.key', 's.untrusted', 's.due_at'])
    .where(visibleTo(userId, 'r'))
    .where('r.status', 'in', ['running', 'waiting'])
    .where('s.status', 'in', ['waiting_approval', 'waiting_input'])
    .orderBy('s.due_at')
    .limit(limit)
    .execute();
