import { NamedError } from './failure.js';

export class QueueFull extends NamedError {}

interface QueuePosition<T> {
  /** Whether it runs before all requests without this mark, and is refused after them. */
  isFirst?: boolean;
  /**
   * Alternative with the same result that needs no slot. Such a request waits like any other and
   * then releases its slot, so it neither delays nor displaces others.
   */
  instead?: (() => Promise<T>) | undefined;
}

interface TurnsOptions {
  atOnce: number;
  each?: number;
  waiting: number;
  /**
   * Whether the oldest of equals runs first. With the newest first, a busy caller's oldest requests
   * would wait forever.
   */
  isOldestFirst?: boolean;
}

interface Waiter {
  asker: string;
  isFirst: boolean;
  rank: number;
  yields: boolean;
  go(hasTurn: boolean): void;
  refuse(): void;
}

const BLAMED_MS = 10 * 60_000;
const MAX_BLAMED = 100_000;

/**
 * Fair semaphore: a flood must not block a caller with one honest request. A caller's second
 * request waits behind the first of every other caller, and blamed callers behind all. Among equals
 * the newest runs first, because its client most likely still waits, unless `isOldestFirst` is set.
 * If the queue is full, the last request is refused.
 */
export const createFairQueue = (of: TurnsOptions) => {
  const blamed = createBlame();
  const each = of.each ?? of.atOnce;
  const running = new Map<string, number>();
  let total = 0;
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
    const behind = line.findIndex((other) => !precedes(other, waiter, isLate));
    line.splice(behind === -1 ? line.length : behind, 0, waiter);
    line = dropSurplus(line, of.waiting);
  };

  const wait = (asker: string, { isFirst, yields }: Pick<Waiter, 'isFirst' | 'yields'>) =>
    new Promise<boolean>((go, reject) => {
      const before = line.filter((each) => each.asker === asker).length;
      const rank = blamed.of(asker) + before;
      join({ asker, isFirst, rank, yields, go, refuse: () => reject(new QueueFull()) });
    });

  /**
   * Starts the next request in the same turn of the event loop, so that no other takes the slot.
   * Requests before it that need no slot are released as well.
   */
  const startNext = (): void => {
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
    /** For some minutes, requests of a blamed caller run after those of others. */
    blame: blamed.add,
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
        startNext();
      }
    },
  };
};

const precedes = (waiting: Waiter, coming: Waiter, isLate: boolean): boolean => {
  if (waiting.isFirst !== coming.isFirst) return waiting.isFirst;
  return isLate ? waiting.rank <= coming.rank : waiting.rank < coming.rank;
};

const dropSurplus = (line: Waiter[], most: number): Waiter[] => {
  let needing = 0;
  return line.filter((each) => {
    const isKept = needing < most;
    if (!isKept) each.refuse();
    if (!each.yields) needing++;
    return isKept;
  });
};

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
