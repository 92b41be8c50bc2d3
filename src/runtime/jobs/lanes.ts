/** What the queue knows of its lanes in memory: how much waits, how much runs, who is next. */
export interface Lanes {
  /** `count` more jobs wait in the lane. */
  add(lane: string, count: number): void;
  /** Which lanes may claim how many now, at most `free` together, taking turns. */
  share(free: number): { lane: string; count: number }[];
  claimed(lane: string): void;
  ended(lane: string): void;
  /** The lane has nothing due now; later it may, or nothing at all waits in it. */
  dry(lane: string, hasLater: boolean): void;
  /** The lane is due again. */
  wake(lane: string): void;
  waiting(lane: string): number;
  totals(): { waiting: number; running: number };
}

interface Lane {
  waiting: number;
  running: number;
  isAsleep: boolean;
}

export const createLanes = (limitOf: (lane: string) => number): Lanes => {
  const lanes = new Map<string, Lane>();
  /** Lanes that may have something to claim, in the order of their turns. */
  const ready = new Set<string>();
  const totals = { waiting: 0, running: 0 };

  const find = (name: string): Lane => {
    const known = lanes.get(name);
    if (known) return known;
    const lane = { waiting: 0, running: 0, isAsleep: false };
    lanes.set(name, lane);
    return lane;
  };

  const settle = (name: string, lane: Lane): void => {
    if (lane.waiting > 0 && !lane.isAsleep && lane.running < limitOf(name)) ready.add(name);
    else ready.delete(name);
    if (lane.waiting === 0 && lane.running === 0) lanes.delete(name);
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
      const shares = new Map<string, number>();
      let left = free;
      for (let gave = true; gave && left > 0; ) {
        gave = false;
        for (const name of [...ready].slice(0, left)) {
          const lane = find(name);
          const has = shares.get(name) ?? 0;
          if (has >= Math.min(lane.waiting, limitOf(name) - lane.running)) continue;
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
    claimed: (name) => change(name, { waiting: -1, running: 1 }),
    ended: (name) => change(name, { running: -1 }),
    dry: (name, hasLater) => {
      const lane = find(name);
      lane.isAsleep = hasLater;
      change(name, { waiting: hasLater ? 0 : -lane.waiting });
    },
    wake: (name) => {
      find(name).isAsleep = false;
      change(name, {});
    },
    waiting: (name) => lanes.get(name)?.waiting ?? 0,
    totals: () => ({ ...totals }),
  };
};
