import type { Cancel, Clock } from '../kernel/clock.js';

/** Maximum delay after the clock was set forward, or the machine slept. */
export const LOOK_MS = 30_000;

/**
 * One timer per name. Timers use the monotonic clock, so the time is also checked every `LOOK_MS`
 * milliseconds.
 */
export const createAlarms = (clock: Clock) => {
  const alarms = new Map<string, { at: number; cancel: Cancel }>();

  let isStopped = false;

  const set = (name: string, { at, ms }: { at: number; ms: number }, ring: () => void): void => {
    if (isStopped) return;
    alarms.get(name)?.cancel();
    alarms.set(name, { at, cancel: clock.after(ms, ring) });
  };

  const act = (name: string, acting: () => void): void => {
    alarms.delete(name);
    acting();
  };

  const watch = (name: string, at: number, acting: () => void): void => {
    const ms = Math.min(Math.max(at - clock.now(), 0), LOOK_MS);
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
      for (const { cancel } of alarms.values()) cancel();
      alarms.clear();
    },
  };
};

export type Alarms = ReturnType<typeof createAlarms>;
