/** Too many wait already. */
export class NoTurn extends Error {
  override name = 'NoTurn';
}

/** How a request stands in line. */
interface QueuePosition<T> {
  /** It goes before all that are not, and is refused after them. */
  isFirst?: boolean;
  /**
   * What gives the same result without a turn. Such a request waits as long as any other would, and
   * then leaves the turn to who needs one: it delays nobody, and nobody is refused for it.
   */
  instead?: (() => Promise<T>) | undefined;
}

/** A fair semaphore: work of which little may run at once, shared out among those who ask for it. */
export interface Turns {
  /** Runs the work when it is the asker's turn. NoTurn: it did not get one. */
  take<T>(asker: string, work: () => Promise<T>, standing?: QueuePosition<T>): Promise<T>;
  /** The asker's work was for nothing: for some minutes it comes after those who have no such. */
  blame(asker: string): void;
}

export interface TurnsOptions {
  /** Work that runs at once. */
  atOnce: number;
  /** Work of one asker that runs at once; left out, all of it may be one's. */
  each?: number;
  /** Work that waits. */
  waiting: number;
}

interface Waiter {
  asker: string;
  isFirst: boolean;
  /** The lower one goes first. */
  rank: number;
  /** It needs no turn. */
  yields: boolean;
  go(hasTurn: boolean): void;
  refuse(): void;
}

const BLAMED_MS = 10 * 60_000;
const MOST_BLAMED = 100_000;

/**
 * A flood must not shut out who comes with one honest request. So an asker's second request waits
 * behind everybody's first, and who was blamed behind who was not; of equals the newest goes
 * first, since it is the one that is still waited for. Where too many wait, the last one is refused.
 */
export const createTurns = (of: TurnsOptions): Turns => {
  const blamed = createBlame();
  const each = of.each ?? of.atOnce;
  const running = new Map<string, number>();
  let total = 0;
  /** The one that goes first stands first. */
  let line: Waiter[] = [];

  const mayBegin = (asker: string): boolean => (running.get(asker) ?? 0) < each;

  const begin = (asker: string): void => {
    total++;
    running.set(asker, (running.get(asker) ?? 0) + 1);
  };

  const end = (asker: string): void => {
    total--;
    const left = (running.get(asker) ?? 0) - 1;
    if (left > 0) running.set(asker, left);
    else running.delete(asker);
  };

  const join = (waiter: Waiter): void => {
    const behind = line.findIndex((other) => !goesBefore(other, waiter));
    line.splice(behind === -1 ? line.length : behind, 0, waiter);
    line = withoutSurplus(line, of.waiting);
  };

  const wait = (asker: string, { isFirst, yields }: Pick<Waiter, 'isFirst' | 'yields'>) =>
    new Promise<boolean>((go, reject) => {
      const before = line.filter((each) => each.asker === asker).length;
      const rank = blamed.of(asker) + before;
      join({ asker, isFirst, rank, yields, go, refuse: () => reject(new NoTurn()) });
    });

  /**
   * Begins what is next in the same turn of the event loop, so that nobody slips in between. Those
   * before it, who need no turn, would have got it in its place: they go too.
   */
  const handOn = (): void => {
    if (total >= of.atOnce) return;
    const needing = line.findIndex(({ asker, yields }) => !yields && mayBegin(asker));
    const before = needing === -1 ? line : line.slice(0, needing);
    const yielding = before.filter(({ yields }) => yields);
    const holder = line[needing] ?? yielding.find(({ asker }) => mayBegin(asker));
    if (holder) begin(holder.asker);
    const going = holder && !holder.yields ? [...yielding, holder] : yielding;
    line = line.filter((waiter) => !going.includes(waiter));
    for (const waiter of going) waiter.go(waiter === holder);
  };

  return {
    blame: blamed.add,
    take: async (asker, work, { isFirst = false, instead } = {}) => {
      if (total < of.atOnce && mayBegin(asker)) begin(asker);
      else if (!(await wait(asker, { isFirst, yields: instead !== undefined })) && instead) {
        return instead();
      }
      try {
        return await work();
      } finally {
        end(asker);
        handOn();
      }
    },
  };
};

/** Of those who stand in line, before one who comes. */
const goesBefore = (standing: Waiter, coming: Waiter): boolean =>
  standing.isFirst === coming.isFirst ? standing.rank < coming.rank : standing.isFirst;

/** Refuses whoever has so many before it that need a turn. */
const withoutSurplus = (line: Waiter[], most: number): Waiter[] => {
  let needing = 0;
  return line.filter((each) => {
    const isKept = needing < most;
    if (!isKept) each.refuse();
    if (!each.yields) needing++;
    return isKept;
  });
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
