/** Work that may run side by side, while what comes of it is written down in the order given. */
export interface Parallel {
  /** Begins the work once there is room. Rejects where the signal has ended all. */
  add<T>(begin: () => Promise<Doing<T>>): Promise<void>;
  /** All that was begun has ended and is written. Errors: the first that there was. */
  settled(): Promise<void>;
}

/** Work that has begun, and how its result is written. */
export interface Doing<T> {
  result: Promise<T>;
  write(result: T): Promise<void>;
}

export const createParallel = (most: number, signal: AbortSignal): Parallel => {
  const working = new Set<Promise<unknown>>();
  let written: Promise<void>[] = [];

  return {
    add: async (begin) => {
      while (working.size >= most) await Promise.race(working);
      signal.throwIfAborted();
      const { result, write } = await begin();
      const ended = result.then(nothing, nothing).finally(() => working.delete(ended));
      working.add(ended);
      written.push(inOrder(written.at(-1), result, write));
    },
    settled: async () => {
      const outcomes = await Promise.allSettled(written);
      written = [];
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
};

const nothing = (): void => undefined;

/** What failed before does not keep a later result from being written. */
const inOrder = <T>(
  before: Promise<void> | undefined,
  result: Promise<T>,
  write: (result: T) => Promise<void>,
): Promise<void> => {
  const writing = (async () => {
    const [, came] = await Promise.allSettled([before, result]);
    if (came.status === 'rejected') throw came.reason;
    await write(came.value);
  })();
  // It is looked at when all have settled.
  writing.catch(nothing);
  return writing;
};
