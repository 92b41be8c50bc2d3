import { computeUtcOffset, resolveLocalInstants } from '../kernel/zonetime.js';

export interface QuietHours {
  /** Local start time, inclusive: `22:00`. */
  from: string;
  /** Local end time, exclusive. Next day if it is not later than `from`. */
  to: string;
  /** IANA name. */
  timezone: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** In milliseconds since 1970; null outside of quiet hours. */
export const quietUntil = ({ from, to, timezone }: QuietHours, now: number): number | null => {
  const [begin, end] = [parseMinutes(from), parseMinutes(to)];
  const length = end > begin ? 0 : DAY_MS;
  const today = Math.floor((now + computeUtcOffset(timezone, now)) / DAY_MS) * DAY_MS;
  for (const day of [today - DAY_MS, today]) {
    const [start] = resolveLocalInstants(timezone, day + begin * MINUTE_MS);
    const [, stop] = resolveLocalInstants(timezone, day + length + end * MINUTE_MS);
    if (start <= now && now < stop) return stop;
  }
  return null;
};

const parseMinutes = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};
