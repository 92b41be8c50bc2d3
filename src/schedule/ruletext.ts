import {
  type CalendarLines,
  type CalendarTime,
  calendarLines,
  parseLocalTime,
} from './calendarlines.js';
import { InvalidRule } from './invalidrule.js';

export interface ParsedRule {
  /** Local time of `DTSTART` in milliseconds as if UTC. Null if absent. */
  start: number | null;
  zone: string | null;
  excluded: CalendarTime[];
  added: CalendarTime[];
  frequency: string;
  /** An instant, or a local time in milliseconds as if UTC. */
  until: { at: number; isLocal: boolean } | null;
  text: string;
}

const FREQUENCIES = ['MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'];
const DAYS = /^([+-]?[1-9]\d?)?(MO|TU|WE|TH|FR|SA|SU)(,([+-]?[1-9]\d?)?(MO|TU|WE|TH|FR|SA|SU))*$/;
const WEEK_START = /^(MO|TU|WE|TH|FR|SA|SU)$/;
const LISTS: Record<string, [smallest: number, largest: number]> = {
  BYMINUTE: [0, 59],
  BYHOUR: [0, 23],
  BYMONTHDAY: [-1, 31],
  BYYEARDAY: [-1, 366],
  BYWEEKNO: [-1, 53],
  BYMONTH: [1, 12],
  BYSETPOS: [-1, 366],
};
/** Bounded, because computing a rule delays other work. */
const LARGEST: Record<string, number> = { INTERVAL: 10_000, COUNT: 1000 };

/**
 * `FREQ=DAILY;BYHOUR=9`, or iCalendar lines. Throws InvalidRule. Hourly and minutely rules have no
 * `COUNT`, because `maxRuns` counts executions.
 */
export const parseRule = (text: string): ParsedRule => {
  const lines = calendarLines(text);
  const start = lines.start && Math.floor(lines.start.wall / 60_000) * 60_000;
  const { frequency, until, rule } = parsedParts(lines);
  const { excluded, added } = lines;
  return { start, zone: lines.start?.zone ?? null, excluded, added, frequency, until, text: rule };
};

const parsedParts = ({
  start,
  rule,
}: CalendarLines): Pick<ParsedRule, 'frequency' | 'until'> & { rule: string } => {
  const parts = parseRuleParts(rule.toUpperCase());
  const frequency = parts.get('FREQ') ?? '';
  if (!FREQUENCIES.includes(frequency)) {
    throw new InvalidRule(`must have FREQ with one of ${FREQUENCIES.join(', ')}`);
  }
  for (const [name, value] of parts) checkPart(name, value);
  const isElapsed = isByElapsedTime(frequency);
  if (isElapsed && parts.has('COUNT'))
    throw new InvalidRule(`must not have COUNT with ${frequency}. Use maxRuns instead`);
  if (parts.has('COUNT') && parts.has('UNTIL'))
    throw new InvalidRule('must not have both COUNT and UNTIL. Remove one of them');
  // Otherwise the minute of the creation would be used.
  if (!isElapsed && start === null && parts.has('BYHOUR') && !parts.has('BYMINUTE')) {
    parts.set('BYMINUTE', '0');
  }
  const until = parts.get('UNTIL');
  for (const name of ['UNTIL', 'RSCALE', 'SKIP']) parts.delete(name);
  return {
    frequency,
    until: until === undefined ? null : parseUntil(until),
    rule: [...parts].map(([name, value]) => `${name}=${value}`).join(';'),
  };
};

/** Uses elapsed time at clock changes. */
export const isByElapsedTime = (frequency: string): boolean =>
  frequency === 'HOURLY' || frequency === 'MINUTELY';

const parseRuleParts = (rule: string): Map<string, string> => {
  const parts = new Map<string, string>();
  for (const part of rule.replace(/;\s*$/, '').split(';')) {
    const [, name = '', value = ''] = /^([A-Z]+)=(.+)$/.exec(part.trim()) ?? [];
    if (name === '')
      throw new InvalidRule('must consist of parts such as FREQ=DAILY, separated by ";"');
    if (parts.has(name)) throw new InvalidRule(`must have ${name} only once`);
    parts.set(name, value);
  }
  return parts;
};

const checkPart = (name: string, value: string): void => {
  const fault = faultOfPart(name, value);
  if (fault !== null) throw new InvalidRule(`must ${fault}`);
};

const faultOfPart = (name: string, value: string): string | null => {
  const list = LISTS[name];
  const largest = LARGEST[name];
  if (list) return faultOfList(name, value, list);
  if (largest !== undefined) {
    const isNumber = /^\d{1,6}$/.test(value) && Number(value) >= 1 && Number(value) <= largest;
    return isNumber ? null : `have ${name} from 1 to ${largest}`;
  }
  if (name === 'BYDAY') return DAYS.test(value) ? null : 'have BYDAY such as MO,WE or -1FR';
  if (name === 'WKST') return WEEK_START.test(value) ? null : 'have WKST such as MO';
  // RFC 7529. These are the defaults.
  if (name === 'RSCALE')
    return value === 'GREGORIAN' ? null : 'have RSCALE=GREGORIAN, or no RSCALE';
  if (name === 'SKIP') return value === 'OMIT' ? null : 'have SKIP=OMIT, or no SKIP';
  const isKnown = name === 'FREQ' || name === 'UNTIL' || (name === 'BYSECOND' && value === '0');
  return isKnown ? null : `not have ${name}`;
};

const faultOfList = (
  name: string,
  value: string,
  [smallest, largest]: [number, number],
): string | null => {
  const isListed = value.split(',').every((each) => {
    const number = Number(each);
    const isNumber = /^[+-]?\d{1,3}$/.test(each) && Math.abs(number) <= largest;
    return isNumber && (smallest === -1 ? number !== 0 : number >= smallest);
  });
  const fromEnd = smallest === -1 ? `1 to ${largest}, or -1 to -${largest} from the end` : null;
  return isListed
    ? null
    : `have ${name} with numbers from ${fromEnd ?? `${smallest} to ${largest}`}`;
};

const parseUntil = (given: string): ParsedRule['until'] => {
  const at = parseLocalTime(given.length === 8 ? `${given}T235959` : given.replace(/Z$/, ''));
  if (at === null) throw new InvalidRule('must have UNTIL such as 20261231T230000Z, or no UNTIL');
  return { at, isLocal: !given.endsWith('Z') };
};
