/** Limits how many callers proceed at once. The others wait in their order. */
export type ConcurrencyGate = (signal: AbortSignal) => Promise<() => void>;

/**
 * Creates a gate for `most` callers. The caller must call the function that it returns once, which
 * admits the next. Throws the signal's reason.
 */
export const createGate = (most: number): ConcurrencyGate => {
  const waiting: (() => void)[] = [];
  let inside = 0;

  /** Passes the place to the next waiting caller directly, so that no other can take it. */
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else inside -= 1;
  };

  return async (signal) => {
    signal.throwIfAborted();
    if (inside < most) inside += 1;
    else await turn(waiting, signal);
    return leave;
  };
};

const turn = (waiting: (() => void)[], signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const enter = (): void => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    const abort = (): void => {
      waiting.splice(waiting.indexOf(enter), 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    waiting.push(enter);
  });

/**
 * Waits for a result until the signal is aborted, and throws its reason then. The work goes on, for
 * whoever needs it next.
 */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
