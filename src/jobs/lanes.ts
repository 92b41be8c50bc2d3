export interface Share {
  lane: string;
  count: number;
}

/**
 * The state of the queue's lanes in memory: the waiting jobs, the running jobs, and which lane is
 * next. Lanes take turns (round robin), so a lane with a hundred thousand jobs delays no other.
 */
export interface Lanes {
  /** Adds `count` waiting jobs to the lane. */
  add(lane: string, count: number): void;
  /** Returns how many jobs each lane may claim now, at most `free` in total. */
  share(free: number): Share[];
  claimed(lane: string): void;
  ended(lane: string): void;
  /** Records that the lane has no due job now. `hasLater` is true if jobs are due later. */
  dry(lane: string, hasLater: boolean): void;
  /** Records that the lane is due again. */
  wake(lane: string): void;
  /** Pauses the lane until `rested`: none of its jobs is claimed, whatever is added to it. */
  rest(lane: string): void;
  rested(lane: string): void;
  waiting(lane: string): number;
  totals(): { waiting: number; running: number };
}

/**
 * The limits for lanes that may be slow. Such a lane runs one job at a time, and all of them
 * together run at most `most` jobs, so that the other lanes always have room.
 */
export interface Caution {
  isDoubtful(lane: string): boolean;
  most: number;
}

interface Lane {
  waiting: number;
  running: number;
  isAsleep: boolean;
  isResting: boolean;
  /** True if the lane was doubtful when its running jobs began. */
  isDoubtful: boolean;
}

const NO_CAUTION: Caution = { isDoubtful: () => false, most: 0 };

export const createLanes = (limitOf: (lane: string) => number, caution = NO_CAUTION): Lanes => {
  const lanes = new Map<string, Lane>();
  /** Lanes that may have a job to claim, in the order of their turns. */
  const ready = new Set<string>();
  const totals = { waiting: 0, running: 0 };
  let doubtful = 0;

  const find = (name: string): Lane => {
    const known = lanes.get(name);
    if (known) return known;
    const lane = {
      ...{ waiting: 0, running: 0 },
      ...{ isAsleep: false, isResting: false, isDoubtful: false },
    };
    lanes.set(name, lane);
    return lane;
  };

  const limitFor = (name: string, lane: Lane): number =>
    lane.isDoubtful || caution.isDoubtful(name) ? 1 : limitOf(name);

  const settle = (name: string, lane: Lane): void => {
    const isDue = lane.waiting > 0 && !lane.isAsleep && !lane.isResting;
    if (isDue && lane.running < limitFor(name, lane)) ready.add(name);
    else ready.delete(name);
    if (lane.waiting === 0 && lane.running === 0 && !lane.isResting) lanes.delete(name);
  };

  const doubt = (lane: Lane, isDoubtful: boolean): void => {
    if (lane.isDoubtful === isDoubtful) return;
    lane.isDoubtful = isDoubtful;
    doubtful += isDoubtful ? 1 : -1;
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

  return {
    add: (name, count) => {
      find(name).isAsleep = false;
      change(name, { waiting: count });
    },
    share: (free) => {
      if (ready.size === 0) return [];
      const shares = new Map<string, number>();
      let left = free;
      let doubtfulLeft = caution.most - doubtful;
      for (let gave = true; gave && left > 0; ) {
        gave = false;
        for (const name of ready) {
          const lane = find(name);
          const has = shares.get(name) ?? 0;
          if (has >= Math.min(lane.waiting, limitFor(name, lane) - lane.running)) continue;
          const isDoubtful = caution.isDoubtful(name);
          if (isDoubtful && doubtfulLeft <= 0) continue;
          if (isDoubtful) doubtfulLeft--;
          shares.set(name, has + 1);
          gave = true;
          if (--left === 0) break;
        }
      }
      for (const name of shares.keys()) {
        if (ready.delete(name)) ready.add(name);
      }
      return [...shares].map(([lane, count]) => ({ lane, count }));
    },
    claimed: (name) => {
      const lane = find(name);
      if (lane.running === 0) doubt(lane, caution.isDoubtful(name));
      change(name, { waiting: -1, running: 1 });
    },
    ended: (name) => {
      const lane = find(name);
      if (lane.running === 1) doubt(lane, false);
      change(name, { running: -1 });
    },
    dry: (name, hasLater) => {
      const lane = find(name);
      lane.isAsleep = hasLater;
      change(name, { waiting: hasLater ? 0 : -lane.waiting });
    },
    wake: (name) => {
      find(name).isAsleep = false;
      change(name, {});
    },
    rest: (name) => {
      find(name).isResting = true;
      change(name, {});
    },
    rested: (name) => {
      find(name).isResting = false;
      change(name, {});
    },
    waiting: (name) => lanes.get(name)?.waiting ?? 0,
    totals: () => ({ ...totals }),
  };
};
