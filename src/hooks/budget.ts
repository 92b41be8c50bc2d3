import { threadMs } from '../kernel/threadtime.js';

/** Milliseconds that the conditions of one run may take together, patterns included. */
export const CONDITIONS_MS = 25;
/** However little of it a thread got on a busy machine, so many times the budget end it. */
const LONGEST = 40;

/** A time that runs out, for work on what strangers sent. */
export interface Budget {
  /** Milliseconds, at least 1. */
  left(): number;
  isSpent(): boolean;
}

/** Counts what the thread computes; where the system does not tell that, the time that passes. */
export const createBudget = (ms: number): Budget => {
  const begun = performance.now();
  const computed = threadMs();
  let end = begun + ms;

  /** The end moves by what the thread has waited for a processor. */
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
