import type { Base } from '../base.js';
import type { BatchPrecedence } from './handler.js';
import { createQueue } from './queue.js';

export type { BatchResult, FailedJob, Job, JobHandler, Queue } from './handler.js';
export { createQueue } from './queue.js';
export {
  addClaimedJob,
  addJob,
  addJobFirst,
  removeJob,
  removeJobOfAgent,
  resumeAgent,
} from './statements.js';

export interface ModuleLanes {
  limitOf(lane: string): number | undefined;
  batchOf(lane: string): number;
  precedence: BatchPrecedence;
}

const LANE_CONCURRENCY = 8;

export const openJobs = (base: Base, { concurrency }: { concurrency: number }) => {
  const { store, clock, log, boot } = base;
  const limits: ModuleLanes[] = [];
  const limitOf = (lane: string): number => {
    for (const limit of limits) {
      const found = limit.limitOf(lane);
      if (found !== undefined) return found;
    }
    return LANE_CONCURRENCY;
  };
  const batchOf = (lane: string): number =>
    limits.reduce((most, limit) => Math.max(most, limit.batchOf(lane)), 0);
  const precedence: BatchPrecedence = {
    roomInBatches: () => Math.min(...limits.map((limit) => limit.precedence.roomInBatches())),
    began: (count) => {
      for (const limit of limits) limit.precedence.began(count);
    },
  };
  const given = { store, clock, log, boot, concurrency };
  return {
    queue: createQueue({ ...given, limitOf, batchOf, precedence }),
    limitLanes: (limit: ModuleLanes): void => {
      limits.push(limit);
    },
  };
};

export type Jobs = ReturnType<typeof openJobs>;
