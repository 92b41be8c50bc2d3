import { Cron } from 'croner';
import { iso } from '../kernel/clock.js';

/**
 * Returns the next due time after `now` (ms) in ISO 8601, or null if it never comes. When clocks
 * change, a fixed local time that does not exist fires at the first time that does, and one that
 * exists twice at the first of the two. With a wildcard minute or hour it goes by elapsed time.
 */
export const nextTime = (
  cron: string,
  timezone: string | undefined,
  now: number,
): string | null => {
  const options = { timezone, paused: true, fixedTimeRule: 'no-wildcard' } as const;
  const next = new Cron(withListedTimes(cron), options).nextRun(new Date(now));
  return next === null ? null : iso(next.getTime());
};

/**
 * Rewrites `8-18/2` in the minute and the hour as a list, because croner takes each step for a
 * wildcard.
 */
const withListedTimes = (cron: string): string => {
  const [minute = '', hour = '', ...days] = cron.trim().split(/\s+/);
  return [listed(minute), listed(hour), ...days].join(' ').trim();
};

const listed = (field: string): string =>
  field.replace(/\b(\d{1,2})-(\d{1,2})\/(\d{1,2})\b/g, (given, from, to, step) => {
    const count = Math.floor((Number(to) - Number(from)) / Number(step)) + 1;
    // Anything that is not a range is left to croner, which refuses it with its own message.
    if (!(count >= 1 && count <= 60)) return given;
    return Array.from({ length: count }, (_, at) => Number(from) + at * Number(step)).join();
  });

/** Returns what a cron expression must be; null if it is valid. */
export const faultOfCron = (cron: string): string | null => {
  try {
    return nextTime(cron, undefined, 0) === null ? 'a time that comes at all' : null;
  } catch {
    return 'five fields: minute, hour, day, month and weekday, as in "30 9 * * 1-5"';
  }
};
