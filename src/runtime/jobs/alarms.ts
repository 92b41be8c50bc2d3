import type { Clock } from '../../kernel/clock.js';

/** Calls back when something is due; one timer for each name, however often it is set. */
export interface Alarms {
  /** At `at`, in ms since 1970, or at the time that was set before, if that is earlier. */
  at(name: string, at: number, act: () => void): void;
  /** After so long, in place of what was set before. */
  after(name: string, ms: number, act: () => void): void;
  /** Calls nobody any more. */
  stop(): void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What is due later than a timer can say is called early. */
export const createAlarms = (clock: Clock): Alarms => {
  const alarms = new Map<string, { at: number; timer: NodeJS.Timeout }>();

  let isStopped = false;

  const set = (name: string, at: number, act: () => void): void => {
    if (isStopped) return;
    clearTimeout(alarms.get(name)?.timer);
    const ring = (): void => {
      alarms.delete(name);
      act();
    };
    const ms = Math.min(Math.max(at - clock.now(), 0), LONGEST_TIMER_MS);
    alarms.set(name, { at, timer: setTimeout(ring, ms) });
  };

  return {
    at: (name, at, act) => {
      const known = alarms.get(name);
      if (!known || known.at > at) set(name, at, act);
    },
    after: (name, ms, act) => set(name, clock.now() + ms, act),
    stop: () => {
      isStopped = true;
      for (const { timer } of alarms.values()) clearTimeout(timer);
      alarms.clear();
    },
  };
};
