import { NoTurn } from './fairqueue.js';

/** Work of one key runs one at a time, and begins no sooner than so long after the one before. */
export interface Pace {
  /** Runs the work when it is its turn, in the order asked. NoTurn: too many wait already. */
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Ours: of different keys at once, so that made-up names fill no memory. It is more than can come
 * within a pause: beyond it every new key is refused, whoever's it is.
 */
const MOST_KEYS = 20_000;

export const createPace = (of: {
  everyMs: number;
  /** How many of one key may wait beside the one that runs. */
  waiting: number;
  wait(ms: number): Promise<unknown>;
}): Pace => {
  /** Those who wait, for each key of which one runs or has just run. */
  const lines = new Map<string, (() => void)[]>();

  const handOn = (key: string): void => {
    const next = lines.get(key)?.shift();
    if (next) next();
    else lines.delete(key);
  };

  const turnOf = async (key: string): Promise<void> => {
    const line = lines.get(key);
    if (!line && lines.size < MOST_KEYS) lines.set(key, []);
    else if (!line || line.length >= of.waiting) throw new NoTurn();
    else await new Promise<void>((go) => line.push(go));
  };

  return {
    take: async (key, work) => {
      await turnOf(key);
      const pause = of.wait(of.everyMs);
      try {
        return await work();
      } finally {
        void pause.then(() => handOn(key));
      }
    },
  };
};
