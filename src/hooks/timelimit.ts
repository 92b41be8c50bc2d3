import { threadMs } from '../kernel/threadtime.js';

/** For all conditions of one execution, in milliseconds. */
export const CONDITIONS_MS = 25;
/**
 * Multiple of the limit after which elapsed time ends the work, even if the thread got little
 * processor time.
 */
const MAX_FACTOR = 40;

export interface TimeLimit {
  left(): number;
  isSpent(): boolean;
}

/** Counts processor time of the thread, or elapsed time if the system does not report that. */
export const createTimeLimit = (ms: number): TimeLimit => {
  const begun = performance.now();
  const computed = threadMs();
  let end = begun + ms;

  /** Extends the limit by the time in which the thread waited for a processor. */
  const isSpent = (): boolean => {
    const now = performance.now();
    if (now <= end) return false;
    if (computed === null || now - begun > MAX_FACTOR * ms) return true;
    const left = ms - ((threadMs() ?? Number.POSITIVE_INFINITY) - computed);
    end = now + left;
    return left <= 0;
  };
  return { left: () => Math.max(1, Math.ceil(end - performance.now())), isSpent };
};
