import { type BatchLimit, createBatchSize } from './batchsize.js';
import type { Share } from './procedures.js';

/**
 * Slow lanes run one job at a time and at most `most` in total, so that other lanes always have
 * room.
 */
export interface SlowLanes {
  isDoubtful(lane: string): boolean;
  most: number;
}

export interface LaneLimits {
  limitOf(lane: string): number;
  /**
   * Jobs per batch, one batch at a time. 0 if the jobs run individually. Batches do not count in
   * the total concurrency.
   */
  batchOf?(lane: string): number;
  slowLanes?: SlowLanes;
}

interface Lane {
  waiting: number;
  running: number;
  batch: number;
  /** Maximum jobs of the next batch: twice those of the last one, if jobs were left. */
  pace: number;
  /** Whether some waiting jobs cannot run in a batch. Then all run individually. */
  isMixed: boolean;
  isAsleep: boolean;
  isResting: boolean;
  isDoubtful: boolean;
}

const NO_CAUTION: SlowLanes = { isDoubtful: () => false, most: 0 };
const MAX_IN_BATCHES = 512;
/** With so many waiting jobs a lane ignores the batch limit, before it must refuse jobs. */
const CROWDED = 50_000;

type Limits = Required<LaneLimits>;

const ALL: BatchLimit = { lanes: Number.POSITIVE_INFINITY, jobs: Number.POSITIVE_INFINITY };

const createLaneStates = ({ limitOf, batchOf, slowLanes }: Limits) => {
  const lanes = new Map<string, Lane>();
  /** Lanes that may have a job to claim, in the order of their turns. */
  const ready = new Set<string>();
  const crowded = new Set<string>();
  const totals = { waiting: 0, running: 0 };

  const find = (name: string): Lane => {
    const known = lanes.get(name);
    if (known) return known;
    const lane = {
      waiting: 0,
      running: 0,
      batch: 0,
      pace: Number.POSITIVE_INFINITY,
      isMixed: false,
      isAsleep: false,
      isResting: false,
      isDoubtful: false,
    };
    lanes.set(name, lane);
    return lane;
  };

  const limitFor = (name: string, lane: Lane): number =>
    lane.isDoubtful || slowLanes.isDoubtful(name) ? 1 : limitOf(name);

  const batchFor = (name: string, lane: Lane): number => (lane.isMixed ? 0 : batchOf(name));

  /** None during a batch, because a batch marks no rows. */
  const roomIn = (name: string, lane: Lane): number => {
    if (lane.batch > 0) return 0;
    return batchFor(name, lane) || limitFor(name, lane) - lane.running;
  };

  const settle = (name: string, lane: Lane): void => {
    const isDue = lane.waiting > 0 && !lane.isAsleep && !lane.isResting;
    if (isDue && roomIn(name, lane) > 0) ready.add(name);
    else ready.delete(name);
    if (lane.waiting >= CROWDED) crowded.add(name);
    else crowded.delete(name);
    const isEmpty = lane.waiting === 0 && lane.running === 0 && lane.batch === 0;
    if (isEmpty && !lane.isResting) lanes.delete(name);
  };

  const change = (name: string, by: { waiting?: number; running?: number }): void => {
    const lane = find(name);
    const waiting = Math.max(-lane.waiting, by.waiting ?? 0);
    lane.waiting += waiting;
    totals.waiting += waiting;
    lane.running += by.running ?? 0;
    totals.running += by.running ?? 0;
    settle(name, lane);
  };

  const passTurn = (names: Iterable<string>): void => {
    for (const name of names) {
      if (ready.delete(name)) ready.add(name);
    }
  };

  return { lanes, ready, crowded, totals, find, batchFor, roomIn, change, passTurn };
};

type LaneStates = ReturnType<typeof createLaneStates>;

const createBatches = (states: LaneStates) => {
  const { lanes, ready, crowded, totals, find, batchFor, change, passTurn } = states;
  const size = createBatchSize();
  let inBatches = 0;
  let begun = 0;

  const sharesOf = (names: Iterable<string>, { lanes: most, jobs }: BatchLimit): Share[] => {
    const shares: Share[] = [];
    let free = Math.min(jobs, MAX_IN_BATCHES - inBatches);
    const each = Math.min(size.most(), Math.ceil(jobs / Math.min(most, ready.size)));
    for (const name of names) {
      if (shares.length >= most) break;
      const lane = find(name);
      const count = Math.min(lane.waiting, batchFor(name, lane), lane.pace, each, free);
      if (count <= 0) continue;
      shares.push({ lane: name, count, isBatch: true });
      free -= count;
    }
    return shares;
  };

  return {
    share: (limit: BatchLimit): Share[] => {
      const free = limit === ALL ? [] : [...crowded].filter((name) => ready.has(name));
      const limited = free.length === 0 ? ready : [...ready].filter((name) => !crowded.has(name));
      const shares = [...sharesOf(free, ALL), ...sharesOf(limited, limit)];
      passTurn(shares.map(({ lane }) => lane));
      return shares;
    },
    isCrowded: (name: string): boolean => crowded.has(name),
    crowded: (): string[] => [...crowded],
    claimed: (name: string, count: number): void => {
      find(name).batch = count;
      size.begun(name);
      inBatches += count;
      begun++;
      totals.running += count;
      change(name, { waiting: -count });
    },
    /** `left`: jobs that wait again. */
    ended: (name: string, left: number): void => {
      const lane = find(name);
      inBatches -= lane.batch;
      begun--;
      totals.running -= lane.batch;
      lane.pace = left > 0 ? Math.max(1, 2 * (lane.batch - left)) : 4 * lane.pace;
      lane.batch = 0;
      change(name, { waiting: left });
    },
    mixed: (name: string, isMixed: boolean): void => {
      const lane = lanes.get(name);
      if (!lane || lane.isMixed === isMixed) return;
      lane.isMixed = isMixed;
      change(name, {});
    },
    hasReady: (): boolean => {
      for (const name of ready) if (batchFor(name, find(name)) > 0) return true;
      return false;
    },
    running: (): number => inBatches,
    begun: (): number => begun,
  };
};

/** One job each in turn, until nothing is free. */
const shareSingles = (
  { ready, find, batchFor, roomIn, passTurn }: LaneStates,
  of: { free: number; doubtfulFree: number; isDoubtful(lane: string): boolean },
): Share[] => {
  const shares = new Map<string, number>();
  let { free, doubtfulFree } = of;
  for (let gave = true; gave && free > 0; ) {
    gave = false;
    for (const name of ready) {
      const lane = find(name);
      if (batchFor(name, lane) > 0) continue;
      const has = shares.get(name) ?? 0;
      if (has >= Math.min(lane.waiting, roomIn(name, lane))) continue;
      const isDoubtful = of.isDoubtful(name);
      if (isDoubtful && doubtfulFree <= 0) continue;
      if (isDoubtful) doubtfulFree--;
      shares.set(name, has + 1);
      gave = true;
      if (--free === 0) break;
    }
  }
  passTurn([...shares.keys()]);
  return [...shares].map(([lane, count]) => ({ lane, count, isBatch: false }));
};

/**
 * Lanes in memory take turns (round robin), so a lane with a hundred thousand jobs delays no other.
 */
export const createLanes = ({
  limitOf,
  batchOf = () => 0,
  slowLanes: caution = NO_CAUTION,
}: LaneLimits) => {
  const states = createLaneStates({ limitOf, batchOf, slowLanes: caution });
  const { lanes, ready, totals, find, change } = states;
  const batches = createBatches(states);
  let doubtful = 0;

  const doubt = (lane: Lane, isDoubtful: boolean): void => {
    doubtful += Number(isDoubtful) - Number(lane.isDoubtful);
    lane.isDoubtful = isDoubtful;
  };

  return {
    add: (name: string, count: number): void => {
      find(name).isAsleep = false;
      change(name, { waiting: count });
    },
    /** At most `free` individual jobs, and one batch per lane within the limit. */
    share: (free: number, limit = ALL): Share[] => {
      if (ready.size === 0) return [];
      const together = batches.share(limit);
      const doubtfulFree = caution.most - doubtful;
      const { isDoubtful } = caution;
      return [...shareSingles(states, { free, doubtfulFree, isDoubtful }), ...together];
    },
    claimed: (name: string): void => {
      const lane = find(name);
      if (lane.running === 0) doubt(lane, caution.isDoubtful(name));
      change(name, { waiting: -1, running: 1 });
    },
    ended: (name: string): void => {
      const lane = find(name);
      if (lane.running === 1) doubt(lane, false);
      change(name, { running: -1 });
    },
    batches,
    running: (): number => totals.running - batches.running(),
    isEmpty: (name: string): boolean => !lanes.has(name),
    dry: (name: string, hasLater: boolean): void => {
      const lane = find(name);
      lane.isAsleep = hasLater;
      change(name, { waiting: hasLater ? 0 : -lane.waiting });
    },
    wake: (name: string): void => {
      find(name).isAsleep = false;
      change(name, {});
    },
    rest: (name: string): void => {
      find(name).isResting = true;
      change(name, {});
    },
    rested: (name: string): void => {
      find(name).isResting = false;
      change(name, {});
    },
    waiting: (name: string): number => lanes.get(name)?.waiting ?? 0,
    /** Of a batch one job counts as running, the others as waiting. */
    totals: () => {
      const others = batches.running() - batches.begun();
      return { waiting: totals.waiting + others, running: totals.running - others };
    },
  };
};
