import type { Base } from '../base.js';
import { createQueue } from './queue.js';

export { createQueue, type Job, type JobHandler, type Queue } from './queue.js';
export {
  addJob,
  addJobFirst,
  becomeJob,
  dropJob,
  releaseJob,
  removeJob,
  removeJobOfAgent,
  removeWaitingJob,
  resumeAgent,
} from './statements.js';

/** Returns the number of jobs of a lane that may run at once; undefined if the lane is another's. */
export type LaneLimit = (lane: string) => number | undefined;

/** The number of jobs that may run at once in a lane for which no module has a limit. */
const LANE_CONCURRENCY = 8;

/** Opens the queue; `concurrency` is the number of jobs that may run at once in all lanes. */
export const openJobs = (base: Base, { concurrency }: { concurrency: number }) => {
  const { store, clock, log, boot } = base;
  const limits: LaneLimit[] = [];
  const limitOf = (lane: string): number => {
    for (const limit of limits) {
      const found = limit(lane);
      if (found !== undefined) return found;
    }
    return LANE_CONCURRENCY;
  };
  return {
    queue: createQueue({ store, clock, log, boot, concurrency, limitOf }),
    /** Registers the limits of the lanes of a module. */
    limitLanes: (limit: LaneLimit): void => {
      limits.push(limit);
    },
  };
};

/** The queue of the runs of hooks and agents. */
export type Jobs = ReturnType<typeof openJobs>;
