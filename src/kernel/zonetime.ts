const DAY_MS = 24 * 3600 * 1000;

/**
 * First and last time at which clocks show `local` (milliseconds as if UTC). They differ when
 * clocks are set back. If clocks skip `local`, both are the time it would have been.
 */
export const resolveLocalInstants = (timezone: string, local: number): [number, number] => {
  const around = [-DAY_MS, DAY_MS].map((away) => local - computeUtcOffset(timezone, local + away));
  const shown = around.filter((at) => at + computeUtcOffset(timezone, at) === local);
  const found = shown.length > 0 ? shown : around.slice(0, 1);
  return [Math.min(...found), Math.max(...found)];
};

export const computeUtcOffset = (timezone: string, at: number): number => {
  const second = Math.floor(at / 1000) * 1000;
  const parts = Object.fromEntries(
    getZoneFormatter(timezone)
      .formatToParts(second)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second: seconds = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
};

export const dayAt = (timezone: string, at: number): string =>
  dayText(at + computeUtcOffset(timezone, at));

/** Start of a day such as `2026-01-31`, plus `days`. */
export const startOfDay = (timezone: string, day: string, days = 0): number =>
  resolveLocalInstants(timezone, Date.parse(`${day}T00:00:00Z`) + days * DAY_MS)[0];

export const clockTime = (timezone: string, at: number): string => {
  const local = at + computeUtcOffset(timezone, at);
  return `${dayText(local)} ${new Date(local).toISOString().slice(11, 16)}`;
};

const dayText = (local: number): string => new Date(local).toISOString().slice(0, 10);

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached, because creation takes longer than all the rest. */
const getZoneFormatter = (timeZone: string): Intl.DateTimeFormat => {
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
