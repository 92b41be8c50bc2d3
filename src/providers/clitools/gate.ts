/** Lets so many at once through; the others wait in their order. */
export type ConcurrencyGate = (signal: AbortSignal) => Promise<() => void>;

/** What it gives must be called once, and lets the next one in. Errors: the signal's reason. */
export const createGate = (most: number): ConcurrencyGate => {
  const waiting: (() => void)[] = [];
  let inside = 0;

  /** Whoever waits takes the place over; nobody can slip in between. */
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
