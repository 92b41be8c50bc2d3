import type { Base } from '../base.js';
import type { BatchPrecedence } from './handler.js';
import { createQueue } from './queue.js';

export type { BatchResult, FailedJob, Job, JobHandler, Queue } from './handler.js';
export { createQueue } from './queue.js';
export {
  addClaimedJob,
  addJob,
  addJobFirst,
  dropJob,
  removeJobOfAgent,
  resumeAgent,
} from './statements.js';

/** The limits of the lanes of a module. */
export interface ModuleLanes {
  /** Returns the number of jobs of a lane that may run at once; undefined if it is another's. */
  limitOf(lane: string): number | undefined;
  /** Returns the number of jobs of a lane that run as one batch; 0 if they run one by one. */
  batchOf(lane: string): number;
  /** Work of the module that goes before batches. */
  precedence: BatchPrecedence;
}

/** The number of jobs that may run at once in a lane for which no module has a limit. */
const LANE_CONCURRENCY = 8;

/** Opens the queue; `concurrency` is the number of jobs that may run at once in all lanes. */
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
    /** Registers the limits of the lanes of a module. */
    limitLanes: (limit: ModuleLanes): void => {
      limits.push(limit);
    },
  };
};

/** The queue of the runs of hooks and agents. */
export type Jobs = ReturnType<typeof openJobs>;
