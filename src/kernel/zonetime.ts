const DAY_MS = 24 * 3600 * 1000;

/**
 * Returns the first and the last time at which clocks of the zone show `local`, which is in
 * milliseconds since 1970 as if the zone were UTC. They differ when clocks are put back. When
 * clocks are put forward over it, both are the time that it would have been.
 */
export const instantsOf = (timezone: string, local: number): [number, number] => {
  const around = [-DAY_MS, DAY_MS].map((away) => local - offsetOf(timezone, local + away));
  const shown = around.filter((at) => at + offsetOf(timezone, at) === local);
  const found = shown.length > 0 ? shown : around.slice(0, 1);
  return [Math.min(...found), Math.max(...found)];
};

/** Returns how far clocks of the zone are ahead of UTC at that time, in milliseconds. */
export const offsetOf = (timezone: string, at: number): number => {
  const second = Math.floor(at / 1000) * 1000;
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(second)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second: seconds = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
};

/** Returns the day that calendars of the zone show at a time, as `2026-01-31`. */
export const dayAt = (timezone: string, at: number): string => dayText(at + offsetOf(timezone, at));

/** Returns the time at which a day, as `2026-01-31`, begins in the zone; `days` later if given. */
export const startOfDay = (timezone: string, day: string, days = 0): number =>
  instantsOf(timezone, Date.parse(`${day}T00:00:00Z`) + days * DAY_MS)[0];

/** Returns a time as clocks of the zone show it, to the minute: `2026-01-31 09:30`. */
export const clockTime = (timezone: string, at: number): string => {
  const local = at + offsetOf(timezone, at);
  return `${dayText(local)} ${new Date(local).toISOString().slice(11, 16)}`;
};

const dayText = (local: number): string => new Date(local).toISOString().slice(0, 10);

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the formatter of a zone. It is cached because creating one takes longer than all the
 * rest.
 */
const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone);
  if (known) return known;
  const numbers = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const clock = { hour: 'numeric', minute: 'numeric', second: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', {
    ...numbers,
    ...clock,
    timeZone,
    hourCycle: 'h23',
    calendar: 'gregory',
    numberingSystem: 'latn',
  });
  formats.set(timeZone, format);
  return format;
};
