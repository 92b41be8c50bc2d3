import { readFileSync } from 'node:fs';

const STATISTICS = '/proc/thread-self/schedstat';

/**
 * Returns the milliseconds that this thread has spent on a processor, without the time that it
 * waited for one. Null if the system does not report it (all but Linux, and kernels built without
 * it).
 */
export const threadMs = (): number | null => {
  try {
    // Nanoseconds on a processor, nanoseconds of waiting, and time slices
    // (Documentation/scheduler/sched-stats).
    const ms = Number(readFileSync(STATISTICS, 'utf8').split(' ', 1)[0]) / 1e6;
    return ms > 0 ? ms : null;
  } catch {
    return null;
  }
};
