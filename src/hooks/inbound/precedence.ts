/** Ours: a window over which deliveries are counted, in milliseconds. */
const WINDOW_MS = 50;
/** Ours: fewer deliveries in a window, 1,600 a second, are no peak. */
const PEAK = 80;
/** Ours: deliveries and runs in a window, 4,000 a second, that every machine bears. */
const BEARABLE = 200;
/** Ours: more are borne where more were accepted before: this share of the most in a window. */
const BORNE_SHARE = 0.5;
/**
 * Ours: the runs for each delivery at a peak that the machine hardly bears. A queued run takes as much
 * of the event loop as a delivery does: measured at 50 connections, acknowledgements lose 5 % to the
 * runs then, and 28 % to a run for every third delivery.
 */
const RUNS_PER_DELIVERY = 1 / 16;

/**
 * Creates the rule by which senders go before batches of runs: at a peak, few runs may begin. The
 * others catch up as soon as it is quieter.
 */
export const createPrecedence = (now = () => performance.now()) => {
  let began = now();
  let counted = 0;
  let before = 0;
  let most = 0;
  let room = 0;
  let roomAt = began;

  /** Begins a new window if this one is over. */
  const roll = (): void => {
    const age = now() - began;
    if (age < WINDOW_MS) return;
    before = age < 2 * WINDOW_MS ? counted : 0;
    most = Math.max(most, before);
    counted = 0;
    began += age;
  };

  /** Makes room for the time since it was last made, for that of a window at most. */
  const makeRoom = (deliveries: number): void => {
    const borne = Math.max(BEARABLE, most * BORNE_SHARE) - deliveries;
    const runs = Math.max(deliveries * RUNS_PER_DELIVERY, borne);
    const windows = (now() - roomAt) / WINDOW_MS;
    room = Math.min(runs, room + windows * runs);
    roomAt += windows * WINDOW_MS;
  };

  return {
    /** Counts a delivery that was accepted. */
    accepted: (): void => {
      roll();
      counted++;
    },
    /** Returns the number of runs that may begin in batches now; infinite if there is no peak. */
    roomInBatches: (): number => {
      roll();
      const deliveries = Math.max(counted, before);
      if (deliveries < PEAK) return Number.POSITIVE_INFINITY;
      makeRoom(deliveries);
      return Math.floor(room);
    },
    /** Counts runs that began in batches. */
    began: (runs: number): void => {
      room = Math.max(0, room - runs);
    },
  };
};

export type Precedence = ReturnType<typeof createPrecedence>;
