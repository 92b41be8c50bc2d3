import type { Clock } from '../src/kernel/clock.js';
import { usageFault } from './exit.js';

/** The time limit that `--timeout` sets, from the start of the command. */
export interface Deadline {
  /** Aborted when the time is over; never without a limit. */
  signal: AbortSignal;
  seconds: number | null;
  lift(): void;
}

/** Maximum delay of a timer; Node ends longer ones after 1 ms. */
const MAX_SECONDS = 2_147_483;

export const createDeadline = (timeout: string | undefined, clock: Clock): Deadline => {
  const end = new AbortController();
  if (timeout === undefined) return { signal: end.signal, seconds: null, lift: () => {} };
  const seconds = timeout.trim() === '' ? Number.NaN : Number(timeout);
  if (!(seconds > 0)) throw usageFault('--timeout must be a number of seconds above 0');
  if (seconds > MAX_SECONDS)
    throw usageFault(`--timeout must be at most ${MAX_SECONDS} seconds (24 days)`);
  const lift = clock.after(seconds * 1000, () => end.abort());
  return { signal: end.signal, seconds, lift };
};
