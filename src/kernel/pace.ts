import { NoTurn } from './fairqueue.js';

export type Pace = ReturnType<typeof createPace>;

/**
 * Ours: the most keys at once, so that made-up names do not fill the memory. It is more than can
 * arrive within a pause. Above it every new key is refused, whoever uses it.
 */
const MAX_KEYS = 20_000;

/** Ours: the callers of one key of whom it is known when they had their last turn. */
const MAX_SERVED = 1000;

/** The place of a call among those that wait. */
interface PaceCall {
  /** The caller. Turns are shared among them, whoever has more calls waiting. */
  asker?: string;
  /** Ends the wait when it is aborted. */
  signal?: AbortSignal;
}

interface PaceWaiter {
  asker: string;
  go(): void;
  refuse(): void;
}

/** The calls of one key. */
interface PaceLine {
  waiting: PaceWaiter[];
  /** The callers that had a turn, the last one last. */
  served: string[];
}

/**
 * Creates a limiter that runs the work of one key one at a time, with a minimum time between two
 * starts. Of the callers that wait, the one whose last turn is longest ago has the next.
 */
export const createPace = (of: {
  everyMs: number;
  /** The number of calls of one key that may wait beside the one that runs. */
  waiting: number;
  wait(ms: number): Promise<unknown>;
}) => {
  /** The lines of the keys that run or have just run. */
  const lines = new Map<string, PaceLine>();

  const handOn = (key: string): void => {
    const line = lines.get(key);
    const next = line && nextOf(line);
    if (!line || !next) {
      lines.delete(key);
      return;
    }
    remove(line, next);
    line.served = [...line.served.filter((each) => each !== next.asker), next.asker];
    line.served.splice(0, line.served.length - MAX_SERVED);
    next.go();
  };

  const turnOf = async (key: string, { asker = '', signal }: PaceCall): Promise<void> => {
    signal?.throwIfAborted();
    const line = lines.get(key);
    if (!line && lines.size < MAX_KEYS) lines.set(key, { waiting: [], served: [asker] });
    else if (!line || (line.waiting.length >= of.waiting && !makesRoom(line, asker))) {
      throw new NoTurn();
    } else await turnIn(line, asker, signal);
  };

  return {
    /** Runs the work when its turn comes. Throws NoTurn if too much waits, and the signal's reason. */
    take: async <T>(key: string, work: () => Promise<T>, call: PaceCall = {}): Promise<T> => {
      await turnOf(key, call);
      const pause = of.wait(of.everyMs);
      try {
        return await work();
      } finally {
        void pause.then(() => handOn(key));
      }
    },
  };
};

const remove = ({ waiting }: PaceLine, waiter: PaceWaiter): void => {
  const at = waiting.indexOf(waiter);
  if (at !== -1) waiting.splice(at, 1);
};

const turnIn = (line: PaceLine, asker: string, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (settle: () => void) => (): void => {
      signal?.removeEventListener('abort', abort);
      settle();
    };
    const waiter: PaceWaiter = {
      asker,
      go: end(resolve),
      refuse: end(() => reject(new NoTurn())),
    };
    const abort = end(() => {
      remove(line, waiter);
      reject(signal?.reason);
    });
    signal?.addEventListener('abort', abort);
    line.waiting.push(waiter);
  });

const nextOf = ({ waiting, served }: PaceLine): PaceWaiter | undefined => {
  const lastTurns = new Map(served.map((asker, at) => [asker, at]));
  const lastTurn = ({ asker }: PaceWaiter): number => lastTurns.get(asker) ?? -1;
  return waiting.toSorted((a, b) => lastTurn(a) - lastTurn(b))[0];
};

/** Refuses the last call of whoever has the most, if that leaves them no fewer than the caller. */
const makesRoom = (line: PaceLine, asker: string): boolean => {
  const counts = new Map<string, number>();
  for (const each of line.waiting) counts.set(each.asker, (counts.get(each.asker) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  const last = line.waiting.findLast((each) => counts.get(each.asker) === most);
  if (!last || most <= (counts.get(asker) ?? 0) + 1) return false;
  remove(line, last);
  last.refuse();
  return true;
};
