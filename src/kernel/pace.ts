import { QueueFull } from './fairqueue.js';

export type Pace = ReturnType<typeof createPace>;

/** Limits memory for invented keys. Above it, new keys are refused. */
const MAX_KEYS = 20_000;

const MAX_SERVED = 1000;

interface PaceCall {
  /** Turns are shared among callers, regardless of the number of their calls. */
  asker?: string;
  signal?: AbortSignal;
}

interface PaceWaiter {
  asker: string;
  go(): void;
  refuse(): void;
}

interface PaceLine {
  waiting: PaceWaiter[];
  served: string[];
}

/**
 * Runs the work of one key sequentially, with a minimum interval between starts. The caller whose
 * last turn is longest ago runs next.
 */
export const createPace = (of: {
  everyMs: number;
  waiting: number;
  wait(ms: number): Promise<unknown>;
}) => {
  const lines = new Map<string, PaceLine>();

  const handOn = (key: string): void => {
    const line = lines.get(key);
    const next = line && pickNextWaiter(line);
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
      throw new QueueFull();
    } else await turnIn(line, asker, signal);
  };

  return {
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
      refuse: end(() => reject(new QueueFull())),
    };
    const abort = end(() => {
      remove(line, waiter);
      reject(signal?.reason);
    });
    signal?.addEventListener('abort', abort);
    line.waiting.push(waiter);
  });

const pickNextWaiter = ({ waiting, served }: PaceLine): PaceWaiter | undefined => {
  const lastTurns = new Map(served.map((asker, at) => [asker, at]));
  const lastTurn = ({ asker }: PaceWaiter): number => lastTurns.get(asker) ?? -1;
  return waiting.toSorted((a, b) => lastTurn(a) - lastTurn(b))[0];
};

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
