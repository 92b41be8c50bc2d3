import { usage } from './exit.js';

/** The time that `--timeout` gives a command, from its first moment on. */
export interface Deadline {
  /** Aborted when the time is over; never without one. */
  signal: AbortSignal;
  seconds: number | null;
  /** Ends the counting. */
  lift(): void;
}

/** Longer than any wait; a timer holds 24 days. */
const MOST_SECONDS = 1_000_000;

/** Usage: not a number of seconds. */
export const deadlineOf = (timeout: string | undefined): Deadline => {
  const end = new AbortController();
  if (timeout === undefined) return { signal: end.signal, seconds: null, lift: () => {} };
  const seconds = timeout.trim() === '' ? Number.NaN : Number(timeout);
  if (!(seconds > 0)) throw usage('--timeout is a number of seconds, above 0');
  const timer = setTimeout(() => end.abort(), Math.min(seconds, MOST_SECONDS) * 1000);
  return { signal: end.signal, seconds, lift: () => clearTimeout(timer) };
};
