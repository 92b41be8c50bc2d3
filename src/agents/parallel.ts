/** Runs work in parallel and writes the results in the order of the calls. */
export interface Parallel {
  /** Begins the work once there is room. Rejects if the signal is aborted. */
  add<T>(begin: () => Promise<Doing<T>>): Promise<void>;
  /** Resolves when all work has ended and is written. Errors: the first one that occurred. */
  settled(): Promise<void>;
}

/** Work that has begun, and the function that writes its result. */
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

/**
 * Writes a result after those before it. An earlier failure does not keep a later result from being
 * written.
 */
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
  // The error is handled when all have settled.
  writing.catch(nothing);
  return writing;
};
