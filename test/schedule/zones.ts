/** The zones of the tests: two with changes of half an hour or in Ramadan, two with some at midnight. */
export const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'America/Santiago',
  'Africa/Cairo',
];

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A time in which a zone has one offset, from `start` until `end`, in milliseconds. */
export interface Span {
  start: number;
  end: number;
  offset: number;
}

/** Reads the offset of a zone from the formats of Intl alone. */
const offsetReader = (timezone: string) => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
  });
  return (at: number): number => {
    const parts = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / MINUTE_MS) * MINUTE_MS;
  };
};

/** Returns the spans of a zone, each change found to the minute. */
export const spansOf = (timezone: string, from: number, to: number): Span[] => {
  const offsetAt = offsetReader(timezone);
  const spans: Span[] = [{ start: from, end: to, offset: offsetAt(from) }];
  for (let at = from; at < to; at += HOUR_MS) {
    const last = spans[spans.length - 1] as Span;
    const offset = offsetAt(at + HOUR_MS);
    if (offset === last.offset) continue;
    let change = at + MINUTE_MS;
    while (offsetAt(change) === last.offset) change += MINUTE_MS;
    last.end = change;
    spans.push({ start: change, end: to, offset });
  }
  return spans;
};

/** Returns the instants of a local time on every day, by the rules for changes of the clocks. */
export const dailyTimes = (spans: Span[], hour: number, minute: number): number[] => {
  const [first, last] = [spans[0] as Span, spans[spans.length - 1] as Span];
  const times = new Set<number>();
  const wallAtEnd = last.end + last.offset;
  for (
    let day = Math.floor(first.start / 86_400_000) * 86_400_000;
    day < wallAtEnd;
    day += 86_400_000
  ) {
    times.add(instantIn(spans, day + (hour * 60 + minute) * MINUTE_MS));
  }
  return [...times].filter((at) => at >= first.start && at < last.end).sort((a, b) => a - b);
};

/** Returns the first instant of a local time; of one that does not exist the first after it that does. */
const instantIn = (spans: Span[], wall: number): number => {
  for (const { start, end, offset } of spans) {
    const at = wall - offset;
    if (at >= start && at < end) return at;
    if (at < start) return start === spans[0]?.start ? Number.NEGATIVE_INFINITY : start;
  }
  return Number.POSITIVE_INFINITY;
};

/** Returns the instants at which a local clock shows one of these minutes. */
export const hourlyTimes = (spans: Span[], minutes: number[]): number[] =>
  spans.flatMap(({ start, end, offset }) => {
    const times: number[] = [];
    for (let at = start; at < end; at += MINUTE_MS) {
      if (minutes.includes(((at + offset) / MINUTE_MS) % 60)) times.push(at);
    }
    return times;
  });
