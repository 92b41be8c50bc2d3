export type ConcurrencyGate = (signal: AbortSignal) => Promise<() => void>;

/** Call the returned function once to admit the next caller. Throws the signal's reason. */
export const createGate = (most: number): ConcurrencyGate => {
  const waiting: (() => void)[] = [];
  let inside = 0;

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

/** Throws the signal's reason on abort. The work continues for the next caller. */
export const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
