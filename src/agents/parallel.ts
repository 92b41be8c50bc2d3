export interface StartedWork<T> {
  result: Promise<T>;
  write(result: T): Promise<void>;
}

/** Runs work in parallel and writes the results in the order of the calls. */
export const createParallel = (most: number, signal: AbortSignal) => {
  const working = new Set<Promise<unknown>>();
  let written: Promise<void>[] = [];

  return {
    /** Waits for a free slot. Rejects if the signal is aborted. */
    add: async <T>(begin: () => Promise<StartedWork<T>>): Promise<void> => {
      while (working.size >= most) await Promise.race(working);
      signal.throwIfAborted();
      const { result, write } = await begin();
      const ended = result.then(nothing, nothing).finally(() => working.delete(ended));
      working.add(ended);
      written.push(inOrder(written.at(-1), result, write));
    },
    /** Resolves when everything is written. Rejects with the first error. */
    settled: async (): Promise<void> => {
      const outcomes = await Promise.allSettled(written);
      written = [];
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
};

const nothing = (): void => undefined;

/** An earlier failure does not prevent a later result from being written. */
const inOrder = <T>(
  before: Promise<void> | undefined,
  result: Promise<T>,
  write: (result: T) => Promise<void>,
): Promise<void> => {
  const writing = (async () => {
    const [, last] = await Promise.allSettled([before, result]);
    if (last.status === 'rejected') throw last.reason;
    await write(last.value);
  })();
  writing.catch(nothing);
  return writing;
};
