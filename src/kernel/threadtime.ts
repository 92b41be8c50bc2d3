import { readFileSync } from 'node:fs';

const STATISTICS = '/proc/thread-self/schedstat';

/**
 * Milliseconds that this thread has spent on a processor, so that waiting for one does not count.
 * Null where the system does not tell (all but Linux, and kernels built without it).
 */
export const threadMs = (): number | null => {
  try {
    // Nanoseconds on a processor, those waited for one, and turns (Documentation/scheduler/sched-stats).
    const ms = Number(readFileSync(STATISTICS, 'utf8').split(' ', 1)[0]) / 1e6;
    return ms > 0 ? ms : null;
  } catch {
    return null;
  }
};
