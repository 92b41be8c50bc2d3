/** Hours of each day in which only messages that cannot wait are sent. */
export interface QuietHours {
  /** The local time at which they begin, as `22:00`, inclusive. */
  from: string;
  /**
   * The local time at which they end, exclusive. If it is not later than `from`, it is of the next
   * day.
   */
  to: string;
  /** The name of the time zone in the IANA database. */
  timezone: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Returns when the quiet hours around `now` end, in milliseconds since 1970; null if `now` is in
 * none.
 */
export const quietUntil = ({ from, to, timezone }: QuietHours, now: number): number | null => {
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  const length = end > begin ? 0 : DAY_MS;
  const today = Math.floor((now + offsetOf(timezone, now)) / DAY_MS) * DAY_MS;
  for (const day of [today - DAY_MS, today]) {
    const [start] = instantsOf(timezone, day + begin * MINUTE_MS);
    const [, stop] = instantsOf(timezone, day + length + end * MINUTE_MS);
    if (start <= now && now < stop) return stop;
  }
  return null;
};

const minutesOf = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};

/**
 * Returns the first and the last time at which clocks of the zone show `local`, which is in
 * milliseconds since 1970 as if the zone were UTC. They differ when clocks are put back. When
 * clocks are put forward over it, both are the time that it would have been.
 */
const instantsOf = (timezone: string, local: number): [number, number] => {
  const around = [-DAY_MS, DAY_MS].map((away) => local - offsetOf(timezone, local + away));
  const shown = around.filter((at) => at + offsetOf(timezone, at) === local);
  const found = shown.length > 0 ? shown : around.slice(0, 1);
  return [Math.min(...found), Math.max(...found)];
};

/** Returns how far clocks of the zone are ahead of UTC at that time, in milliseconds. */
const offsetOf = (timezone: string, at: number): number => {
  const second = Math.floor(at / 1000) * 1000;
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(second)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second: seconds = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
};

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
