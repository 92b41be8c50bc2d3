interface ZonedParts {
  /** Calendar day: `2026-11-28`. */
  date: string;
  /** Readable day: `Sat 28 Nov`, with the year if it differs from that of `now`. */
  day: string;
  clock: string;
}

/** Time on the clock of a time zone: `today 18:00`, `Sat 28 Nov 18:00`. */
export const dayTime = (time: string, timezone: string, now: number): string => {
  const { date, day, clock } = partsIn(timezone, Date.parse(time), now);
  return `${date === partsIn(timezone, now, now).date ? 'today' : day} ${clock}`;
};

/** `today`, `Mon 30 Nov`. */
export const zonedDay = (day: string, timezone: string, now: number): string =>
  day === partsIn(timezone, now, now).date
    ? 'today'
    : partsIn('UTC', Date.parse(`${day}T00:00:00Z`), now).day;

/** Whether the local clock shows the same as that time zone. */
export const isLocalClock = (timezone: string, at: number): boolean => {
  const { date, clock } = partsIn(timezone, at, at);
  const local = new Date(at);
  const hours = `${two(local.getHours())}:${two(local.getMinutes())}`;
  const days = `${two(local.getMonth() + 1)}-${two(local.getDate())}`;
  return clock === hours && date === `${local.getFullYear()}-${days}`;
};

/** Short name of a time zone at that time: `CET`, `GMT+9`. */
export const shortZone = (timezone: string, at: number): string =>
  getFormatter(timezone)
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value ?? timezone;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const partsIn = (timezone: string, at: number, now: number): ZonedParts => {
  const parts = getFormatter(timezone).formatToParts(at);
  const part = (name: Intl.DateTimeFormatPartTypes): string =>
    parts.find(({ type }) => type === name)?.value ?? '';
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const named = `${part('weekday')} ${Number(day)} ${MONTHS[Number(month) - 1]}`;
  const isThisYear = year === String(new Date(now).getUTCFullYear());
  return {
    date: `${year}-${month}-${day}`,
    day: isThisYear ? named : `${named} ${year}`,
    clock: `${part('hour')}:${part('minute')}`,
  };
};

const PARTS: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
};

/** Cached, because creating one takes longer than drawing a screen. */
const formatters = new Map<string, Intl.DateTimeFormat>();

const getFormatter = (timezone: string): Intl.DateTimeFormat => {
  const known = formatters.get(timezone) ?? formatterFor(timezone);
  formatters.set(timezone, known);
  return known;
};

/** Falls back to UTC if a newer daemon uses a time zone that is unknown here. */
const formatterFor = (timezone: string): Intl.DateTimeFormat => {
  try {
    return new Intl.DateTimeFormat('en-GB', { ...PARTS, timeZone: timezone });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new Intl.DateTimeFormat('en-GB', { ...PARTS, timeZone: 'UTC' });
  }
};

const two = (value: number): string => String(value).padStart(2, '0');
