import type { Store } from '../../store/store.js';
import type { PipelineRunRow } from '../../store/tables/pipelines.js';
import { visibleTo } from '../../store/visible.js';
import type { RunService } from './service.js';

/** A run as it is named in a line of text. */
export type RunBrief = Pick<PipelineRunRow, 'id' | 'name' | 'status'>;

/** The newest runs of users that no stage has begun, for the modules in which people name these. */
export interface RecentRuns {
  /** Returns the newest runs of a user. */
  newest(userId: string, most: number): Promise<RunBrief[]>;
  /** Returns those of the newest runs of a user whose id ends so, at most two. */
  endingIn(userId: string, end: string): Promise<RunBrief[]>;
  /** Stops a run. Throws 409 if it has ended. */
  stop(userId: string, id: string): Promise<RunBrief>;
  /** Goes on with a run, from a stage if one is given. Throws 409 if it has not ended, and 400. */
  retry(userId: string, id: string, fromStage?: string): Promise<RunBrief>;
}

/** Ours: the newest runs that a person can name by the end of their ids. */
const NAMED = 200;

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
      (await newest(userId, NAMED)).filter(({ id }) => id.endsWith(end)).slice(0, 2),
    stop: async (userId, id) => (await service.stop(userId, id)).row,
    retry: async (userId, id, fromStage) => (await service.retry(userId, id, fromStage)).row,
  };
};
