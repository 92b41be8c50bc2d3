import type { Clock } from '../kernel/clock.js';

/** Calls back when something is due; one timer for each name, however often it is set. */
export interface Alarms {
  /** At `at`, in ms since 1970, or at the time that was set before, if that is earlier. */
  at(name: string, at: number, act: () => void): void;
  /** After so long, in place of what was set before. */
  after(name: string, ms: number, act: () => void): void;
  /** Calls nobody any more. */
  stop(): void;
}

/** Ours: how late one may be after the clock was put forward, or stood still with the machine. */
const LOOK_MS = 30_000;

/**
 * setTimeout runs by the monotonic clock and knows nothing of the other: who waits for a time looks
 * at it now and then.
 */
export const createAlarms = (clock: Clock, lookMs = LOOK_MS): Alarms => {
  const alarms = new Map<string, { at: number; timer: NodeJS.Timeout }>();

  let isStopped = false;

  const set = (name: string, { at, ms }: { at: number; ms: number }, ring: () => void): void => {
    if (isStopped) return;
    clearTimeout(alarms.get(name)?.timer);
    alarms.set(name, { at, timer: setTimeout(ring, ms) });
  };

  const act = (name: string, acting: () => void): void => {
    alarms.delete(name);
    acting();
  };

  const watch = (name: string, at: number, acting: () => void): void => {
    const ms = Math.min(Math.max(at - clock.now(), 0), lookMs);
    set(name, { at, ms }, () => (clock.now() < at ? watch(name, at, acting) : act(name, acting)));
  };

  return {
    at: (name, at, acting) => {
      const known = alarms.get(name);
      if (!known || known.at > at) watch(name, at, acting);
    },
    after: (name, ms, acting) => set(name, { at: clock.now() + ms, ms }, () => act(name, acting)),
    stop: () => {
      isStopped = true;
      for (const { timer } of alarms.values()) clearTimeout(timer);
      alarms.clear();
    },
  };
};
