import { parseTimezone } from '../kernel/timezone.js';
import { InvalidRule } from './invalidrule.js';

/** RFC 5545, 3.3.4 and 3.3.5. */
export interface CalendarTime {
  /** Local time in milliseconds as if UTC. */
  wall: number;
  isDate: boolean;
  /** From TZID, or `UTC` with `Z`. Null means the zone of the schedule. */
  zone: string | null;
}

export interface CalendarLines {
  start: CalendarTime | null;
  rule: string;
  excluded: CalendarTime[];
  added: CalendarTime[];
}

interface Line {
  name: string;
  parameters: Map<string, string>;
  value: string;
}

/** Each next time is compared with all of them. */
const MAX_TIMES = 500;

/**
 * Reads `DTSTART`, `RRULE`, `EXDATE` and `RDATE`, also folded or within a `VEVENT`. A text without
 * a name is the rule. Throws InvalidRule.
 */
export const calendarLines = (text: string): CalendarLines => {
  const found = linesOfEvent(unfolded(text).map(parseCalendarLine));
  const named = (name: string): Line[] => found.filter((line) => line.name === name);
  const [start, ...starts] = named('DTSTART');
  const [rule, ...rules] = named('RRULE');
  if (starts.length > 0) throw twice('DTSTART');
  if (rules.length > 0) throw twice('RRULE');
  if (!rule) throw new InvalidRule('must have an RRULE line with parts such as FREQ=DAILY');
  const excluded = named('EXDATE').flatMap(timesIn);
  const added = named('RDATE').flatMap(timesIn);
  if (excluded.length > MAX_TIMES) throw tooMany('EXDATE');
  if (added.length > MAX_TIMES) throw tooMany('RDATE');
  const first = (start && timesIn(start)[0]) ?? null;
  const isFixed = [first, ...excluded, ...added].some((time) => time?.zone?.startsWith('Etc/GMT'));
  if (isFixed && /^BEGIN:DAYLIGHT\s*$/im.test(text)) throw new InvalidRule(CHANGING_OFFSET);
  return { start: first, rule: rule.value, excluded, added };
};

const CHANGING_OFFSET =
  'must have a TZID such as TZID=Europe/Berlin instead of an offset, because its VTIMEZONE has DAYLIGHT';

const twice = (name: string): InvalidRule =>
  new InvalidRule(`must have only one ${name} line. Create a schedule for each`);

const tooMany = (name: string): InvalidRule =>
  new InvalidRule(`must have at most ${MAX_TIMES} times in the ${name} lines`);

const PROPERTY = /^[A-Za-z][A-Za-z0-9-]*(?=[;:])/;

const INDENTED = /^\s+(BEGIN|DTSTART|END|EXDATE|EXRULE|RDATE|RRULE)[;:]/i;

/** Folded lines (RFC 5545, 3.1). Lines that are only indented stay lines. */
const unfolded = (text: string): string[] => {
  const lines: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    const isFolded = /^[ \t]/.test(line) && lines.length > 0 && !INDENTED.test(line);
    if (isFolded) lines.push(`${lines.pop() ?? ''}${line.slice(1)}`);
    else if (line.trim() !== '') lines.push(line);
  }
  return lines.map((line) => line.trim());
};

const parseCalendarLine = (line: string): Line => {
  const name = PROPERTY.exec(line)?.[0];
  if (name === undefined) return { name: 'RRULE', parameters: new Map(), value: line };
  const [, written = '', value = ''] =
    /^((?:;[A-Za-z0-9-]+=(?:"[^"]*"|[^";:]*))*):(.*)$/.exec(line.slice(name.length)) ?? [];
  const parameters = new Map<string, string>();
  for (const [, key = '', quoted, bare] of written.matchAll(/;([^=]+)=(?:"([^"]*)"|([^;]*))/g)) {
    parameters.set(key.toUpperCase(), quoted ?? bare ?? '');
  }
  return { name: name.toUpperCase(), parameters, value: value.trim() };
};

const OF_RECURRENCE = new Set(['DTSTART', 'RRULE', 'EXDATE', 'RDATE']);

const linesOfEvent = (lines: Line[]): Line[] => {
  const open: string[] = [];
  let events = 0;
  const found = lines.filter(({ name, value }) => {
    if (name === 'BEGIN') open.push(value.toUpperCase());
    if (name === 'BEGIN' && /^(VEVENT|VTODO)$/i.test(value)) events++;
    if (name === 'END') open.pop();
    if (name === 'EXRULE') {
      throw new InvalidRule('must not have an EXRULE line. List the times in an EXDATE line');
    }
    const isInEvent = open.length === 0 || /^(VEVENT|VTODO)$/.test(open.at(-1) ?? '');
    return isInEvent && name !== 'BEGIN' && name !== 'END';
  });
  if (events > 1)
    throw new InvalidRule(
      'must contain only one VEVENT or VTODO. Create a separate schedule for each event',
    );
  const unknown = events === 0 && found.find(({ name }) => !OF_RECURRENCE.has(name));
  if (!unknown) return found.filter(({ name }) => OF_RECURRENCE.has(name));
  const { name } = unknown;
  throw new InvalidRule(
    `must not have a ${name} line. Allowed lines: DTSTART, RRULE, EXDATE, RDATE`,
  );
};

const timesIn = ({ name, parameters, value }: Line): CalendarTime[] => {
  const type = parameters.get('VALUE')?.toUpperCase();
  if (type === 'PERIOD') {
    throw new InvalidRule(
      `must have times in ${name}, not periods. Example: ${name}:20260131T090000`,
    );
  }
  const zone = zoneIn(name, parameters.get('TZID'));
  return value.split(',').map((each) => timeIn(name, each.trim(), zone));
};

const timeIn = (name: string, given: string, zone: string | null): CalendarTime => {
  const isDate = /^\d{8}$/.test(given);
  const wall = parseLocalTime(isDate ? `${given}T000000` : given.replace(/Z$/i, ''));
  if (wall === null) {
    const shown = given.slice(0, 40);
    throw new InvalidRule(
      `must have a time in ${name} such as ${name}:20260131T090000, not "${shown}"`,
    );
  }
  return { wall, isDate, zone: /Z$/i.test(given) ? 'UTC' : zone };
};

/** Also after a registry name: `/mozilla.org/Europe/Berlin`. */
const zoneIn = (name: string, tzid: string | undefined): string | null => {
  if (tzid === undefined) return null;
  const parts = tzid.split('/').filter((part) => part !== '');
  const names = [tzid, ...[3, 2, 1].map((count) => parts.slice(-count).join('/'))];
  const zone = names.map(parseTimezone).find((found) => found !== null);
  if (zone !== undefined) return zone;
  const shown = tzid.slice(0, 100);
  throw new InvalidRule(
    `must have a known time zone in ${name}, such as TZID=Europe/Berlin, not "${shown}"`,
  );
};

export const parseLocalTime = (given: string): number | null => {
  const digits = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/i.exec(given);
  if (!digits) return null;
  const [, year, month, day, ...time] = digits;
  const text = `${year}-${month}-${day}T${time.join(':')}.000Z`;
  const at = Date.parse(text);
  return Number.isNaN(at) || new Date(at).toISOString() !== text ? null : at;
};
