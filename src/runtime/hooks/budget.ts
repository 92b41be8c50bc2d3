/** Milliseconds that the conditions of one run may take together, patterns included. */
export const CONDITIONS_MS = 25;

/** A time that runs out, for work on what strangers sent. */
export interface Budget {
  /** Milliseconds, at least 1. */
  left(): number;
  isSpent(): boolean;
}

export const createBudget = (ms: number): Budget => {
  const end = performance.now() + ms;
  return {
    left: () => Math.max(1, Math.ceil(end - performance.now())),
    isSpent: () => performance.now() > end,
  };
};
