/** Ours: a window over which deliveries are counted, in milliseconds. */
const WINDOW_MS = 50;
/** Ours: so many deliveries in a window, 1,600 a second, are a peak. */
const PEAK = 80;
/**
 * Ours: the deliveries that are accepted for each batch of 256 runs at a peak. Measured on two cores,
 * acknowledgements lose 15 % to the runs then, and 30 % if no batch is held.
 */
const EVERY = 768;

/**
 * Creates the rule by which senders go before batches of runs: at a peak, a batch may begin
 * after so many deliveries. Runs catch up as soon as it is quieter.
 */
export const createPrecedence = (now = () => performance.now()) => {
  let began = now();
  let counted = 0;
  let before = 0;
  let sinceBatch = 0;

  /** Begins a new window if this one is over. */
  const roll = (): void => {
    const age = now() - began;
    if (age < WINDOW_MS) return;
    before = age < 2 * WINDOW_MS ? counted : 0;
    counted = 0;
    began += age;
  };

  return {
    /** Counts a delivery that was accepted. */
    accepted: (): void => {
      roll();
      counted++;
      sinceBatch++;
    },
    /** True while no batch of runs is to begin. A batch begins after the first `false`. */
    areBatchesHeld: (): boolean => {
      roll();
      const isPeak = Math.max(counted, before) >= PEAK;
      if (isPeak && sinceBatch < EVERY) return true;
      sinceBatch = 0;
      return false;
    },
  };
};

export type Precedence = ReturnType<typeof createPrecedence>;
