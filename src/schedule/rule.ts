import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import { isByElapsedTime, type ParsedRule } from './ruletext.js';

/** The place of a rule: its time zone, and its start. */
export interface RulePlace {
  timezone: string;
  /** The start of a rule without `DTSTART`, in milliseconds since 1970. */
  startsAt: number;
}

/** Bounds of the search for one time, which blocks the event loop: a few hundredths of a second. */
const SEARCH = { maxIterations: 250, maxCandidateEvaluations: 2000, strict: true, cache: false };
/** The times that clocks which go back make pass twice: three hours of minutes. */
const MOST_REPEATED = 180;
/** The changes of clocks over which a rule of hours or minutes is searched. */
const MOST_CHANGES = 12;
/** The last year that sorts as text. */
const LAST = Date.UTC(9999, 11, 31);
const MINUTE_MS = 60_000;

/**
 * Returns the first time of a rule after `after`, in milliseconds since 1970, or null if there is
 * none. Local times are computed without a zone and then placed in it, because the library leaves
 * out those that do not exist. Throws errors of the library where the rule is not valid.
 */
export const nextOfRule = (rule: ParsedRule, place: RulePlace, after: number): number | null => {
  const { timezone } = place;
  const startWall =
    rule.start ?? Math.floor(wallOf(place.startsAt, timezone) / MINUTE_MS) * MINUTE_MS;
  const start = instantOf(startWall, timezone);
  const from = Math.max(after, start - 1);
  const next = isByElapsedTime(rule.frequency)
    ? nextByElapsedTime(rule, { timezone, start }, from)
    : nextByWall(rule, { timezone, startWall }, from);
  return next === null || next > LAST || isOver(rule, next, timezone) ? null : next;
};

/** Returns the first local time of the rule whose instant is after `from`. */
const nextByWall = (
  rule: ParsedRule,
  { timezone, startWall }: { timezone: string; startWall: number },
  from: number,
): number | null => {
  const series = seriesOf(rule, startWall);
  let wall = wallOf(from, timezone);
  for (let tries = 0; tries < MOST_REPEATED; tries++) {
    const found = nextIn(series, wall);
    if (found === null || found > LAST) return null;
    const at = instantOf(found, timezone);
    if (at > from) return at;
    wall = found;
  }
  return null;
};

/** Returns the first time after `from`, searched between one change of the clocks and the next. */
const nextByElapsedTime = (
  rule: ParsedRule,
  { timezone, start }: { timezone: string; start: number },
  from: number,
): number | null => {
  let after = from;
  let zoned = zonedAt(from + 1, timezone);
  for (let changes = 0; changes < MOST_CHANGES; changes++) {
    const offset = offsetOf(zoned);
    const change = zoned.getTimeZoneTransition('next');
    const found = nextIn(seriesOf(rule, start + offset), after + offset);
    if (found === null) return null;
    if (!change || found - offset < change.epochMilliseconds) return found - offset;
    after = change.epochMilliseconds - 1;
    zoned = change;
  }
  return null;
};

/** Makes the series of the local times of a rule, as if they were UTC. */
const seriesOf = ({ text }: ParsedRule, startWall: number): RRuleTemporal => {
  const start = new Date(startWall).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  return new RRuleTemporal({ rruleString: `DTSTART:${start}Z\nRRULE:${text}`, ...SEARCH });
};

/** Returns the next time of a series; null if it is over or further away than the search goes. */
const nextIn = (series: RRuleTemporal, after: number): number | null => {
  try {
    return series.next(new Date(after))?.epochMilliseconds ?? null;
  } catch {
    return null;
  }
};

const isOver = ({ until }: ParsedRule, at: number, timezone: string): boolean =>
  until !== null && (until.isLocal ? wallOf(at, timezone) : at) > until.at;

const zonedAt = (at: number, timezone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);

const offsetOf = ({ offsetNanoseconds }: Temporal.ZonedDateTime): number => offsetNanoseconds / 1e6;

/** Returns the local time of an instant, in milliseconds as if it were UTC. */
const wallOf = (at: number, timezone: string): number => at + offsetOf(zonedAt(at, timezone));

/**
 * Returns the instant of a local time: of one that exists twice the first, and of one that does not
 * exist the first instant after it that does.
 */
const instantOf = (wall: number, timezone: string): number => {
  const local = Temporal.Instant.fromEpochMilliseconds(wall)
    .toZonedDateTimeISO('UTC')
    .toPlainDateTime();
  const earlier = local.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const exists = earlier.epochMilliseconds + offsetOf(earlier) === wall;
  const at = exists ? earlier : (earlier.getTimeZoneTransition('next') ?? earlier);
  return at.epochMilliseconds;
};
