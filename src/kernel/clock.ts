/** The only source of time. Tests replace it with a fixed one. */
export interface Clock {
  /** Returns milliseconds since 1970, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/**
 * Returns the time as ISO 8601, in UTC, with milliseconds: the only format of a time on the wire
 * and in the database.
 */
export const iso = (ms: number): string => {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
};

/** Returns a time in ISO 8601, as `iso` gives it, to the minute for people: `2026-01-31 09:00 UTC`. */
export const toTheMinute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/**
 * The newest formatted time. Many calls fall into one millisecond, and formatting takes half a
 * microsecond, which is much on the hot path.
 */
let last = { ms: Number.NaN, text: '' };

/** True if the name is a time zone of the IANA database. */
export const isTimezone = (name: string): boolean => {
  if (zones.has(name)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    return false;
  }
  if (zones.size < MAX_ZONES) zones.add(name);
  return true;
};

/** Names that are known to be zones, in the spelling in which they were given. */
const zones = new Set<string>();
const MAX_ZONES = 1000;
