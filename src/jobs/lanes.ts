export interface Share {
  lane: string;
  count: number;
}

/**
 * The limits for lanes that may be slow. Such a lane runs one job at a time, and all of them
 * together run at most `most` jobs, so that the other lanes always have room.
 */
export interface SlowLanes {
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

const NO_CAUTION: SlowLanes = { isDoubtful: () => false, most: 0 };

/**
 * Creates the state of the queue's lanes in memory: the waiting jobs, the running jobs, and which
 * lane is next. Lanes take turns (round robin), so a lane with a hundred thousand jobs delays no
 * other.
 */
export const createLanes = (limitOf: (lane: string) => number, caution = NO_CAUTION) => {
  const lanes = new Map<string, Lane>();
  /** Lanes that may have a job to claim, in the order of their turns. */
  const ready = new Set<string>();
  const totals = { waiting: 0, running: 0 };
  let doubtful = 0;

  const find = (name: string): Lane => {
    const known = lanes.get(name);
    if (known) return known;
    const lane = {
      waiting: 0,
      running: 0,
      isAsleep: false,
      isResting: false,
      isDoubtful: false,
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
    /** Adds `count` waiting jobs to the lane. */
    add: (name: string, count: number): void => {
      find(name).isAsleep = false;
      change(name, { waiting: count });
    },
    /** Returns how many jobs each lane may claim now, at most `free` in total. */
    share: (free: number): Share[] => {
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
    /** Records that the lane has no due job now. `hasLater` is true if jobs are due later. */
    dry: (name: string, hasLater: boolean): void => {
      const lane = find(name);
      lane.isAsleep = hasLater;
      change(name, { waiting: hasLater ? 0 : -lane.waiting });
    },
    /** Records that the lane is due again. */
    wake: (name: string): void => {
      find(name).isAsleep = false;
      change(name, {});
    },
    /** Pauses the lane until `rested`: none of its jobs is claimed, whatever is added to it. */
    rest: (name: string): void => {
      find(name).isResting = true;
      change(name, {});
    },
    rested: (name: string): void => {
      find(name).isResting = false;
      change(name, {});
    },
    waiting: (name: string): number => lanes.get(name)?.waiting ?? 0,
    totals: () => ({ ...totals }),
  };
};
