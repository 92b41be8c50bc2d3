/** Window for counting deliveries, in milliseconds. */
const WINDOW_MS = 50;
/** Minimum deliveries in a window that count as a peak: 1,600 a second. */
const PEAK = 80;
/** Deliveries and executions in a window that every machine can handle: 4,000 a second. */
const SUSTAINABLE = 200;
/** Share of the highest accepted load in a window that is also allowed. */
const SUSTAINED_SHARE = 0.5;
/**
 * Executions per delivery at an overload peak. Measured at 50 connections: acknowledgements slow
 * down by 5 % with this value, and by 28 % with one execution for every third delivery.
 */
const RUNS_PER_DELIVERY = 1 / 16;

/**
 * Deliveries take precedence over batches of executions at a peak. The executions catch up
 * afterwards.
 */
export const createBackpressure = (now = () => performance.now()) => {
  let began = now();
  let counted = 0;
  let before = 0;
  let most = 0;
  let room = 0;
  let roomAt = began;

  const roll = (): void => {
    const age = now() - began;
    if (age < WINDOW_MS) return;
    before = age < 2 * WINDOW_MS ? counted : 0;
    most = Math.max(most, before);
    counted = 0;
    began += age;
  };

  /** Adds budget for the elapsed time, at most one window. */
  const addBudget = (deliveries: number): void => {
    const borne = Math.max(SUSTAINABLE, most * SUSTAINED_SHARE) - deliveries;
    const runs = Math.max(deliveries * RUNS_PER_DELIVERY, borne);
    const windows = (now() - roomAt) / WINDOW_MS;
    room = Math.min(runs, room + windows * runs);
    roomAt += windows * WINDOW_MS;
  };

  return {
    accepted: (): void => {
      roll();
      counted++;
    },
    roomInBatches: (): number => {
      roll();
      const deliveries = Math.max(counted, before);
      if (deliveries < PEAK) return Number.POSITIVE_INFINITY;
      addBudget(deliveries);
      return Math.floor(room);
    },
    began: (runs: number): void => {
      room = Math.max(0, room - runs);
    },
  };
};

export type Backpressure = ReturnType<typeof createBackpressure>;
