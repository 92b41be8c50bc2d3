import { instantsOf, offsetOf } from '../kernel/zonetime.js';

/** Hours of each day in which only messages that cannot wait are sent. */
export interface QuietHours {
  /** The local time at which they begin, as `22:00`, inclusive. */
  from: string;
  /**
   * The local time at which they end, exclusive. If it is not later than `from`, it is of the next
   * day.
   */
  to: string;
  /** The name of the time zone in the IANA database. */
  timezone: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Returns when the quiet hours around `now` end, in milliseconds since 1970; null if `now` is in
 * none.
 */
export const quietUntil = ({ from, to, timezone }: QuietHours, now: number): number | null => {
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  const length = end > begin ? 0 : DAY_MS;
  const today = Math.floor((now + offsetOf(timezone, now)) / DAY_MS) * DAY_MS;
  for (const day of [today - DAY_MS, today]) {
    const [start] = instantsOf(timezone, day + begin * MINUTE_MS);
    const [, stop] = instantsOf(timezone, day + length + end * MINUTE_MS);
    if (start <= now && now < stop) return stop;
  }
  return null;
};

const minutesOf = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};
