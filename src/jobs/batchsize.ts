export interface BatchLimit {
  lanes: number;
  jobs: number;
}

/** Jobs per batch while other lanes also run batches. */
const SHARED = 48;
/** In milliseconds after a batch of another lane. */
const SHARED_MS = 1000;

export interface BatchSize {
  begun(lane: string): void;
  most(): number;
}

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
