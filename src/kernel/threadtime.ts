import { readFileSync } from 'node:fs';

const STATISTICS = '/proc/thread-self/schedstat';

/**
 * Processor time of this thread. Null if the system does not report it (all but Linux, and some
 * kernels).
 */
export const threadMs = (): number | null => {
  try {
    // Nanoseconds on a processor, nanoseconds of waiting, time slices
    // (Documentation/scheduler/sched-stats).
    const ms = Number(readFileSync(STATISTICS, 'utf8').split(' ', 1)[0]) / 1e6;
    return ms > 0 ? ms : null;
  } catch {
    return null;
  }
};
