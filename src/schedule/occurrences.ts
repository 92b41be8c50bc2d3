import { Cron } from 'croner';
import { iso, isTimezone } from '../kernel/clock.js';
import type { FieldFault } from '../kernel/problem.js';
import { parseRule, RuleFault } from './ruletext.js';

/** The times at which something recurs: a cron expression or a recurrence rule, in a time zone. */
export interface Recurrence {
  cron?: string | undefined;
  rrule?: string | undefined;
  timezone: string;
}

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

const FIVE_FIELDS = 'five fields: minute, hour, day, month and weekday, as in "30 9 * * 1-5"';

/** Returns what a cron expression must be; null if it is valid. */
export const faultOfCron = (cron: string): string | null => {
  try {
    return nextTime(cron, undefined, 0) === null ? 'a time that comes at all' : null;
  } catch {
    return faultOfFields(cron);
  }
};

/** The fields of a cron expression in their order, with what each may be. */
const CRON_FIELDS = [
  'minute (0-59)',
  'hour (0-23)',
  'day of the month (1-31)',
  'month (1-12 or JAN-DEC)',
  'weekday (0-7 or SUN-SAT)',
];

/** Names the first field that is wrong by itself. */
const faultOfFields = (cron: string): string => {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== CRON_FIELDS.length) return FIVE_FIELDS;
  const wrong = fields.findIndex(
    (field, at) => !isCron(fields.map((_, n) => (n === at ? field : '*'))),
  );
  return wrong < 0 ? FIVE_FIELDS : `five fields; "${fields[wrong]}" is no ${CRON_FIELDS[wrong]}`;
};

const isCron = (fields: string[]): boolean => {
  try {
    nextTime(fields.join(' '), undefined, 0);
    return true;
  } catch {
    return false;
  }
};

/**
 * Returns the next due time after `after` (ms) in ISO 8601, or null if there is none. `startsAt` (ms)
 * is the start of a rule without `DTSTART`. The library for rules is loaded with the first of them.
 */
export const nextOccurrence = async (
  { cron, rrule, timezone }: Recurrence,
  startsAt: number,
  after: number,
): Promise<string | null> => {
  if (cron !== undefined) return nextTime(cron, timezone, after);
  if (rrule === undefined) return null;
  const { nextOfRule } = await import('./rule.js');
  const next = nextOfRule(parseRule(rrule), { timezone, startsAt }, after);
  return next === null ? null : iso(next);
};

/** Returns what is wrong with a recurrence, and in which of its fields; null: it is valid. */
export const faultOfRecurrence = async (
  recurrence: Recurrence,
  now: number,
): Promise<FieldFault | null> => {
  const { cron, rrule, timezone } = recurrence;
  if (!isTimezone(timezone)) {
    return { path: 'timezone', message: 'must be a time zone, as in "Europe/Berlin"' };
  }
  if ((cron === undefined) === (rrule === undefined)) {
    return { path: 'cron', message: 'is required, or rrule in its place' };
  }
  if (cron !== undefined) {
    const fault = cron.trim().split(/\s+/).length === 5 ? faultOfCron(cron) : FIVE_FIELDS;
    return fault === null ? null : { path: 'cron', message: `must be ${fault}` };
  }
  const fault = await faultOfRule(recurrence, now);
  return fault === null ? null : { path: 'rrule', message: `must be ${fault}` };
};

/** Returns what a recurrence rule must be; null if it is valid and comes at all. */
const faultOfRule = async (recurrence: Recurrence, now: number): Promise<string | null> => {
  try {
    const next = await nextOccurrence(recurrence, now, now);
    return next === null ? 'a rule with a time that is still to come' : null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return error instanceof RuleFault ? message : `a rule of RFC 5545: ${message}`;
  }
};
