/** Too many wait already. */
export class NoTurn extends Error {
  override name = 'NoTurn';
}

/** A fair semaphore: work of which little may run at once, shared out among those who ask for it. */
export interface Turns {
  /** Runs the work when it is the asker's turn. NoTurn: it did not get one. */
  take<T>(asker: string, work: () => Promise<T>): Promise<T>;
  /** The asker's work was for nothing: for some minutes it comes after those who have no such. */
  blame(asker: string): void;
}

interface Waiter {
  asker: string;
  /** The lower one goes first. */
  rank: number;
  go(): void;
  refuse(): void;
}

const BLAMED_MS = 10 * 60_000;
const MOST_BLAMED = 100_000;

/**
 * A flood must not shut out who comes with one honest request. So an asker's second request waits
 * behind everybody's first, and who was blamed behind who was not; of equals the newest goes
 * first, since it is the one that is still waited for. Where too many wait, the last one is refused.
 */
export const createTurns = (of: { atOnce: number; waiting: number }): Turns => {
  const blamed = createBlame();
  let running = 0;
  let line: Waiter[] = [];

  const remove = (waiter: Waiter): Waiter => {
    line = line.filter((each) => each !== waiter);
    return waiter;
  };

  const wait = (asker: string): Promise<void> =>
    new Promise((go, reject) => {
      const before = line.filter((each) => each.asker === asker).length;
      const rank = blamed.of(asker) + before;
      line.push({ asker, rank, go, refuse: () => reject(new NoTurn()) });
      if (line.length <= of.waiting) return;
      remove(line.reduce((last, each) => (each.rank > last.rank ? each : last))).refuse();
    });

  /** Hands the turn on without letting go of it, so that nobody slips in between. */
  const handOn = (): void => {
    if (line.length === 0) running--;
    else remove(line.reduce((first, each) => (each.rank <= first.rank ? each : first))).go();
  };

  return {
    blame: blamed.add,
    take: async (asker, work) => {
      if (running < of.atOnce) running++;
      else await wait(asker);
      try {
        return await work();
      } finally {
        handOn();
      }
    },
  };
};

/** How often each asker was blamed lately. */
const createBlame = () => {
  const counts = new Map<string, number>();
  let since = performance.now();
  const forget = (): void => {
    counts.clear();
    since = performance.now();
  };
  const of = (asker: string): number => {
    if (performance.now() > since + BLAMED_MS) forget();
    return counts.get(asker) ?? 0;
  };
  return {
    of,
    add: (asker: string): void => {
      if (counts.size >= MOST_BLAMED) forget();
      counts.set(asker, of(asker) + 1);
    },
  };
};
