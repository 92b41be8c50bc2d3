import type { Store } from '../../store/store.js';
import type { PipelineRunRow } from '../../store/tables/pipelines.js';
import { visibleTo } from '../../store/visible.js';
import type { RunService } from './service.js';

export type RunBrief = Pick<PipelineRunRow, 'id' | 'name' | 'status'>;

/** Newest runs without a parent. */
export interface RecentRuns {
  newest(userId: string, most: number): Promise<RunBrief[]>;
  /** Returns at most two runs by the end of their ID. */
  endingIn(userId: string, end: string): Promise<RunBrief[]>;
  /** Throws 409 if it has ended. */
  stop(userId: string, id: string): Promise<RunBrief>;
  /** Throws 409 if it has not ended, or 400. */
  retry(userId: string, id: string, fromStage?: string): Promise<RunBrief>;
}

const MAX_NAMED = 200;

export const createRecentRuns = (
  { db }: Pick<Store, 'db'>,
  service: Pick<RunService, 'stop' | 'retry'>,
): RecentRuns => {
  const newest: RecentRuns['newest'] = (userId, most) =>
    db
      .selectFrom('pipeline_runs')
      .select(['id', 'name', 'status'])
      .where(visibleTo(userId))
      .where('parent_id', 'is', null)
      .orderBy('id', 'desc')
      .limit(most)
      .execute();

  return {
    newest,
    endingIn: async (userId, end) =>
      (await newest(userId, MAX_NAMED)).filter(({ id }) => id.endsWith(end)).slice(0, 2),
    stop: async (userId, id) => (await service.stop(userId, id)).row,
    retry: async (userId, id, fromStage) => (await service.retry(userId, id, fromStage)).row,
  };
};
