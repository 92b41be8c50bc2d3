export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601 in UTC with milliseconds, the only time format in the API and the database. */
export const iso = (ms: number): string => {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
};

export const toTheMinute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/** Many calls share one millisecond, and formatting takes half a microsecond on the hot path. */
let last = { ms: Number.NaN, text: '' };

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

const zones = new Set<string>();
const MAX_ZONES = 1000;
