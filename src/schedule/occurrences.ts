import { Cron } from 'croner';
import { iso, isTimezone } from '../kernel/clock.js';
import { errorReason } from '../kernel/failure.js';
import type { FieldFault } from '../kernel/problem.js';
import { InvalidRule } from './invalidrule.js';
import { parseRule } from './ruletext.js';

export interface Recurrence {
  cron?: string | undefined;
  rrule?: string | undefined;
  timezone: string;
}

/**
 * ISO 8601, or null. At clock changes, a skipped local time fires at the first valid time, a
 * repeated one at the first of the two. Wildcard minutes and hours use elapsed time.
 */
export const nextTime = (cron: string, timezone: string, now: number): string | null => {
  const options = { timezone, paused: true, fixedTimeRule: 'no-wildcard' } as const;
  const next = new Cron(withListedTimes(cron), options).nextRun(new Date(now));
  return next === null ? null : iso(next.getTime());
};

/** croner treats each step as a wildcard, so `8-18/2` is rewritten as a list. */
const withListedTimes = (cron: string): string => {
  const [minute = '', hour = '', ...days] = cron.trim().split(/\s+/);
  return [listed(minute), listed(hour), ...days].join(' ').trim();
};

const listed = (field: string): string =>
  field.replace(/\b(\d{1,2})-(\d{1,2})\/(\d{1,2})\b/g, (given, from, to, step) => {
    const count = Math.floor((Number(to) - Number(from)) / Number(step)) + 1;
    if (!(count >= 1 && count <= 60)) return given;
    return Array.from({ length: count }, (_, at) => Number(from) + at * Number(step)).join();
  });

const FIVE_FIELDS = 'five fields: minute, hour, day, month and weekday, as in "30 9 * * 1-5"';

export const faultOfCron = (cron: string): string | null => {
  try {
    return nextTime(cron, 'UTC', 0) === null ? 'an expression that matches a future time' : null;
  } catch {
    return faultOfFields(cron);
  }
};

const CRON_FIELDS = [
  'minute (0-59)',
  'hour (0-23)',
  'day of the month (1-31)',
  'month (1-12 or JAN-DEC)',
  'weekday (0-7 or SUN-SAT)',
];

const NICKNAMES = '@hourly, @daily, @weekly, @monthly or @yearly';

const faultOfFields = (cron: string): string => {
  if (cron.trim().startsWith('@')) return `${FIVE_FIELDS}, or one of ${NICKNAMES}`;
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== CRON_FIELDS.length) return FIVE_FIELDS;
  const wrong = fields.findIndex(
    (field, at) => !isCron(fields.map((_, n) => (n === at ? field : '*'))),
  );
  if (wrong < 0) return FIVE_FIELDS;
  const given = fields[wrong] ?? '';
  const [, from, step] = /^(\d{1,2})\/(\d{1,2})$/.exec(given) ?? [];
  const advice = from === undefined ? '' : `. Use ${from}-${LAST[wrong]}/${step}`;
  return `five fields; "${given}" is not a valid ${CRON_FIELDS[wrong]}${advice}`;
};

const LAST = [59, 23, 31, 12, 6];

const isCron = (fields: string[]): boolean => {
  try {
    nextTime(fields.join(' '), 'UTC', 0);
    return true;
  } catch {
    return false;
  }
};

/**
 * ISO 8601, or null. `startsAt`: start of a rule without `DTSTART`, in milliseconds. The rule
 * library is loaded on demand.
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

export const faultOfRecurrence = async (
  recurrence: Recurrence,
  now: number,
): Promise<FieldFault | null> => {
  const { cron, rrule, timezone } = recurrence;
  if (!isTimezone(timezone)) {
    return { path: 'timezone', message: 'must be a time zone, as in "Europe/Berlin"' };
  }
  if ((cron === undefined) === (rrule === undefined)) {
    return { path: 'cron', message: 'or rrule is required. Send exactly one of the two' };
  }
  if (cron !== undefined) {
    const isForm = cron.trim().startsWith('@') || cron.trim().split(/\s+/).length === 5;
    const fault = isForm ? faultOfCron(cron) : FIVE_FIELDS;
    return fault === null ? null : { path: 'cron', message: `must be ${fault}` };
  }
  const message = await faultOfRule(recurrence, now);
  return message === null ? null : { path: 'rrule', message };
};

const faultOfRule = async (recurrence: Recurrence, now: number): Promise<string | null> => {
  try {
    const { rrule = '', timezone } = recurrence;
    const { zone } = parseRule(rrule);
    if (zone !== null && !isSameZone(zone, timezone)) return faultOfZone(zone, timezone);
    const next = await nextOccurrence(recurrence, now, now);
    return next === null ? 'must be a rule with a future time' : null;
  } catch (error) {
    const message = errorReason(error);
    return error instanceof InvalidRule ? message : `must be a valid RFC 5545 rule: ${message}`;
  }
};

const isSameZone = (one: string, other: string): boolean =>
  canonicalZone(one) === canonicalZone(other);

const canonicalZone = (timeZone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;

const faultOfZone = (zone: string, timezone: string): string =>
  zone === 'UTC'
    ? `must have a local DTSTART in ${timezone}, without Z. Alternatively, set timezone to UTC`
    : `must have a DTSTART in ${timezone}, not in TZID=${zone}. Alternatively, set timezone to ${zone}`;

/** Zone of `DTSTART`. Null if there is none. */
export const zoneOfRule = (rrule: string | undefined): string | null => {
  try {
    return rrule === undefined ? null : parseRule(rrule).zone;
  } catch (error) {
    if (error instanceof InvalidRule) return null;
    throw error;
  }
};
