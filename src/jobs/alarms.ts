import type { Clock } from '../kernel/clock.js';

/** Maximum delay after the clock was set forward, or the machine slept. */
const LOOK_MS = 30_000;

/**
 * One timer per name. setTimeout uses the monotonic clock, so the clock is also checked every
 * `lookMs` milliseconds.
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
    /** `at`: milliseconds since 1970. An earlier timer is kept. */
    at: (name: string, at: number, acting: () => void): void => {
      const known = alarms.get(name);
      if (!known || known.at > at) watch(name, at, acting);
    },
    after: (name: string, ms: number, acting: () => void): void =>
      set(name, { at: clock.now() + ms, ms }, () => act(name, acting)),
    stop: (): void => {
      isStopped = true;
      for (const { timer } of alarms.values()) clearTimeout(timer);
      alarms.clear();
    },
  };
};

export type Alarms = ReturnType<typeof createAlarms>;
