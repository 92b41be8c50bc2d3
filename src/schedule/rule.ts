import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import type { CalendarTime } from './calendarlines.js';
import { isByElapsedTime, type ParsedRule } from './ruletext.js';

export interface RulePlace {
  timezone: string;
  /** Start of a rule without `DTSTART`, in milliseconds since 1970. */
  startsAt: number;
}

/** Limits the search, which blocks the event loop, to some hundredths of a second. */
const SEARCH = { maxIterations: 250, maxCandidateEvaluations: 2000, strict: true, cache: false };
/** Minutes that may repeat when clocks are set back: three hours. */
const MAX_REPEATED = 180;
const MAX_CHANGES = 12;
/** The last year that sorts as text. */
const LAST = Date.UTC(9999, 11, 31);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * First time after `after` in milliseconds since 1970, or null. Local times are computed without a
 * zone and then placed in it, because the library skips those that do not exist. Throws errors of
 * the library for invalid rules.
 */
export const nextOfRule = (rule: ParsedRule, place: RulePlace, after: number): number | null => {
  const { timezone } = place;
  const isExcluded = createExclusionLookup(rule.excluded, timezone);
  const added = rule.added
    .map(({ wall, zone }) => toInstant(wall, zone ?? timezone))
    .filter((at) => at > after && isExcluded(at) === null);
  let next = nextBySeries(rule, place, after);
  for (let end = next === null ? null : isExcluded(next); next !== null && end !== null; ) {
    next = nextBySeries(rule, place, end);
    end = next === null ? null : isExcluded(next);
  }
  const first = Math.min(next ?? Number.POSITIVE_INFINITY, ...added);
  return Number.isFinite(first) ? first : null;
};

/**
 * Returns the end of the exclusion that contains an instant, or null. An excluded date ends with
 * its day, a time with its minute.
 */
const createExclusionLookup = (
  excluded: CalendarTime[],
  timezone: string,
): ((at: number) => number | null) => {
  const ranges = excluded.map(({ wall, isDate, zone }) => {
    const minute = Math.floor(wall / MINUTE_MS) * MINUTE_MS;
    const from = toInstant(minute, zone ?? timezone);
    const to = isDate ? toInstant(wall + DAY_MS, zone ?? timezone) : from + MINUTE_MS;
    return { from, to };
  });
  return (at) => {
    const found = ranges.find(({ from, to }) => from <= at && at < to);
    return found ? found.to - 1 : null;
  };
};

const nextBySeries = (rule: ParsedRule, place: RulePlace, after: number): number | null => {
  const { timezone } = place;
  const startWall =
    rule.start ?? Math.floor(toWallTime(place.startsAt, timezone) / MINUTE_MS) * MINUTE_MS;
  const start = toInstant(startWall, timezone);
  const from = Math.max(after, start - 1);
  const next = isByElapsedTime(rule.frequency)
    ? nextByElapsedTime(rule, { timezone, start }, from)
    : nextByWall(rule, { timezone, startWall }, from);
  return next === null || next > LAST || isOver(rule, next, timezone) ? null : next;
};

const nextByWall = (
  rule: ParsedRule,
  { timezone, startWall }: { timezone: string; startWall: number },
  from: number,
): number | null => {
  const series = createRecurrenceSeries(withoutSavedTime(rule, startWall), startWall);
  let wall = toWallTime(from, timezone);
  for (let tries = 0; tries < MAX_REPEATED; tries++) {
    const found = nextIn(series, wall);
    if (found === null || found > LAST) return null;
    const at = toInstant(found, timezone);
    if (at > from) return at;
    wall = found;
  }
  return null;
};

/** Searches between clock changes. */
const nextByElapsedTime = (
  rule: ParsedRule,
  { timezone, start }: { timezone: string; start: number },
  from: number,
): number | null => {
  let after = from;
  let zoned = zonedAt(from + 1, timezone);
  for (let changes = 0; changes < MAX_CHANGES; changes++) {
    const offset = getOffsetMs(zoned);
    const change = zoned.getTimeZoneTransition('next');
    const found = nextIn(createRecurrenceSeries(rule, start + offset), after + offset);
    if (found === null) return null;
    if (!change || found - offset < change.epochMilliseconds) return found - offset;
    after = change.epochMilliseconds - 1;
    zoned = change;
  }
  return null;
};

const createRecurrenceSeries = ({ text }: ParsedRule, startWall: number): RRuleTemporal => {
  const start = new Date(startWall).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  return new RRuleTemporal({ rruleString: `DTSTART:${start}Z\nRRULE:${text}`, ...SEARCH });
};

/** The time at which a rule without `DTSTART` was saved has passed, so `COUNT` does not count it. */
const withoutSavedTime = (rule: ParsedRule, startWall: number): ParsedRule => {
  const { start, text } = rule;
  const isCounted =
    start === null &&
    /\bCOUNT=/.test(text) &&
    nextIn(createRecurrenceSeries(rule, startWall), startWall - 1) === startWall;
  if (!isCounted) return rule;
  return {
    ...rule,
    text: text.replace(/\bCOUNT=(\d+)/, (_, count) => `COUNT=${Number(count) + 1}`),
  };
};

const nextIn = (series: RRuleTemporal, after: number): number | null => {
  try {
    return series.next(new Date(after))?.epochMilliseconds ?? null;
  } catch {
    return null;
  }
};

const isOver = ({ until }: ParsedRule, at: number, timezone: string): boolean =>
  until !== null && (until.isLocal ? toWallTime(at, timezone) : at) > until.at;

const zonedAt = (at: number, timezone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);

const getOffsetMs = ({ offsetNanoseconds }: Temporal.ZonedDateTime): number =>
  offsetNanoseconds / 1e6;

const toWallTime = (at: number, timezone: string): number =>
  at + getOffsetMs(zonedAt(at, timezone));

/** The first of a repeated local time; the first valid instant after a skipped one. */
const toInstant = (wall: number, timezone: string): number => {
  const local = Temporal.Instant.fromEpochMilliseconds(wall)
    .toZonedDateTimeISO('UTC')
    .toPlainDateTime();
  const earlier = local.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const exists = earlier.epochMilliseconds + getOffsetMs(earlier) === wall;
  const at = exists ? earlier : (earlier.getTimeZoneTransition('next') ?? earlier);
  return at.epochMilliseconds;
};
