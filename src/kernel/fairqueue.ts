import { NamedError } from './failure.js';

/** The error of work that is refused because too much waits already. */
export class NoTurn extends NamedError {}

/** The position of a request in the queue. */
interface QueuePosition<T> {
  /** True if it goes before all requests without this mark, and is refused after them. */
  isFirst?: boolean;
  /**
   * An alternative that gives the same result without a turn. Such a request waits as long as any
   * other would, and then leaves the turn to one that needs it. So it delays no other request and
   * causes no refusal.
   */
  instead?: (() => Promise<T>) | undefined;
}

interface TurnsOptions {
  /** The most work that runs at once. */
  atOnce: number;
  /** The most work of one caller that runs at once. By default one caller may use all. */
  each?: number;
  /** The most work that may wait. */
  waiting: number;
  /**
   * True if of equals the oldest goes first. Where one caller goes on asking, the newest first would
   * have its oldest requests wait for ever.
   */
  isOldestFirst?: boolean;
}

interface Waiter {
  asker: string;
  isFirst: boolean;
  /** The rank: the lower one goes first. */
  rank: number;
  /** True if it needs no turn. */
  yields: boolean;
  go(hasTurn: boolean): void;
  refuse(): void;
}

const BLAMED_MS = 10 * 60_000;
const MAX_BLAMED = 100_000;

/**
 * Creates a fair semaphore: it limits how much work runs at once, and shares the turns among the
 * callers. A flood must not shut out a caller with one honest request. So a
 * caller's second request waits behind the first of every other caller, and blamed callers wait
 * behind all others. Of equals the newest goes first, because its client is most likely still
 * waiting, unless `isOldestFirst` is set. If too many wait, the last one is refused.
 */
export const createTurns = (of: TurnsOptions) => {
  const blamed = createBlame();
  const each = of.each ?? of.atOnce;
  const running = new Map<string, number>();
  let total = 0;
  /** The waiting requests, in the order in which they run. */
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
    const isLate = of.isOldestFirst ?? false;
    const behind = line.findIndex((other) => !goesBefore(other, waiter, isLate));
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
   * Starts the next request in the same turn of the event loop, so that no other slips in between.
   * Requests before it that need no turn would have got this turn; they are released as well.
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
    /**
     * Marks a caller whose work was futile. For some minutes its requests come after those of
     * unmarked callers.
     */
    blame: blamed.add,
    /** Runs the work when it is the caller's turn. Throws NoTurn if the caller gets none. */
    take: async <T>(
      asker: string,
      work: () => Promise<T>,
      { isFirst = false, instead }: QueuePosition<T> = {},
    ): Promise<T> => {
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

/** True if a waiting request goes before a new one; `isLate`: the new one goes behind its equals. */
const goesBefore = (waiting: Waiter, coming: Waiter, isLate: boolean): boolean => {
  if (waiting.isFirst !== coming.isFirst) return waiting.isFirst;
  return isLate ? waiting.rank <= coming.rank : waiting.rank < coming.rank;
};

/** Refuses every request that has `most` requests before it that need a turn. */
const withoutSurplus = (line: Waiter[], most: number): Waiter[] => {
  let needing = 0;
  return line.filter((each) => {
    const isKept = needing < most;
    if (!isKept) each.refuse();
    if (!each.yields) needing++;
    return isKept;
  });
};

/** Creates the count of how often each caller was blamed lately. */
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
      if (counts.size >= MAX_BLAMED) forget();
      counts.set(asker, of(asker) + 1);
    },
  };
};
