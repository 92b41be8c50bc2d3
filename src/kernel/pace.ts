import { NoTurn } from './fairqueue.js';

export type Pace = ReturnType<typeof createPace>;

/**
 * Ours: the most keys at once, so that made-up names do not fill the memory. It is more than can
 * arrive within a pause. Above it every new key is refused, whoever uses it.
 */
const MOST_KEYS = 20_000;

/**
 * Creates a limiter that runs the work of one key one at a time, with a minimum time between two
 * starts.
 */
export const createPace = (of: {
  everyMs: number;
  /** The number of calls of one key that may wait beside the one that runs. */
  waiting: number;
  wait(ms: number): Promise<unknown>;
}) => {
  /** The waiting calls, for each key that runs or has just run. */
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
    /**
     * Runs the work when its turn comes, in the order of the calls. Throws NoTurn if too many
     * already wait.
     */
    take: async <T>(key: string, work: () => Promise<T>): Promise<T> => {
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
