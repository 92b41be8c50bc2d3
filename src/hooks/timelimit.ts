import { threadMs } from '../kernel/threadtime.js';

/** The time for all conditions of one execution together, patterns included, in milliseconds. */
export const CONDITIONS_MS = 25;
/**
 * The multiple of the limit after which elapsed time ends it, however little the thread ran on a
 * busy machine.
 */
const LONGEST = 40;

/** A time limit for work on untrusted input. */
export interface TimeLimit {
  /** Returns the milliseconds that are left, at least 1. */
  left(): number;
  isSpent(): boolean;
}

/**
 * Creates a time limit that counts the processor time of the thread, or elapsed time if the system does
 * not report that.
 */
export const createTimeLimit = (ms: number): TimeLimit => {
  const begun = performance.now();
  const computed = threadMs();
  let end = begun + ms;

  /** Moves the end of the limit by the time in which the thread waited for a processor. */
  const isSpent = (): boolean => {
    const now = performance.now();
    if (now <= end) return false;
    if (computed === null || now - begun > LONGEST * ms) return true;
    const left = ms - ((threadMs() ?? Number.POSITIVE_INFINITY) - computed);
    end = now + left;
    return left <= 0;
  };
  return { left: () => Math.max(1, Math.ceil(end - performance.now())), isSpent };
};
