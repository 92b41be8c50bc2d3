import type { Clock } from '../kernel/clock.js';

/**
 * Ours: the longest delay of a timer after the clock was put forward, or after the machine slept.
 */
const LOOK_MS = 30_000;

/**
 * Creates timers that call back at a due time, one for each name, however often it is set. setTimeout follows the monotonic clock only, so a timer for a time of day
 * also checks the clock every `lookMs` milliseconds.
 */
export const createAlarms = (clock: Clock, lookMs = LOOK_MS) => {
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
    /**
     * Calls back at `at`, in milliseconds since 1970, or at the time that was set before if that is
     * earlier.
     */
    at: (name: string, at: number, acting: () => void): void => {
      const known = alarms.get(name);
      if (!known || known.at > at) watch(name, at, acting);
    },
    /** Calls back after `ms` milliseconds, in place of the timer that was set before. */
    after: (name: string, ms: number, acting: () => void): void =>
      set(name, { at: clock.now() + ms, ms }, () => act(name, acting)),
    /** Stops all timers. */
    stop: (): void => {
      isStopped = true;
      for (const { timer } of alarms.values()) clearTimeout(timer);
      alarms.clear();
    },
  };
};

export type Alarms = ReturnType<typeof createAlarms>;
