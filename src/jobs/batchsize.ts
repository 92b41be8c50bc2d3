/** A limit of the batches that begin at once: so many, of so many jobs in all. */
export interface BatchLimit {
  lanes: number;
  jobs: number;
}

/** Ours: the most jobs of a batch while other lanes run batches too, as these wait for its end. */
const SHARED = 48;
/** Ours: the time after a batch of another lane for which that holds, in milliseconds. */
const SHARED_MS = 1000;

/** The most jobs of the next batch, by the lanes that have run batches lately. */
export interface BatchSize {
  /** Records that a batch of the lane has begun. */
  begun(lane: string): void;
  most(): number;
}

/** Creates the size of batches. `now` is a clock in milliseconds. */
export const createBatchSize = (now = () => performance.now()): BatchSize => {
  let last: string | null = null;
  let sharedUntil = 0;
  return {
    begun: (lane) => {
      if (last !== null && last !== lane) sharedUntil = now() + SHARED_MS;
      last = lane;
    },
    most: () => (now() < sharedUntil ? SHARED : Number.POSITIVE_INFINITY),
  };
};
