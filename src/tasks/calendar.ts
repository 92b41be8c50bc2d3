import type { ListedTask } from './selections.js';

/** The time that an event takes whose task is due at a time: calendars hide those of no length. */
const LENGTH_MS = 15 * 60_000;
/** Ours: the characters of notes that a calendar shows, so that many long ones hold up nobody. */
const LONGEST_NOTES = 2000;
/** The octets of a line; one that goes on below begins with a space there. */
const LINE_OCTETS = 75;
const ASCII_PIECES = new RegExp(`.{1,${LINE_OCTETS - 1}}`, 'g');
/** The characters that a value of text has to escape or to leave out. */
const SPECIAL = /[\\;,\x00-\x1f\x7f-\x9f]/;
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Writes tasks that are due as a calendar (RFC 5545). Ours: as events, since Google Calendar and
 * Apple Calendar show no VTODO of an address that they subscribe to; as free time, and without
 * alarms, since the reminders are notifications.
 */
export const calendarOf = (tasks: ListedTask[]): string => {
  const lines = [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Adjutant//Tasks//EN'],
    ...['NAME:Tasks', 'X-WR-CALNAME:Tasks'],
    ...tasks.flatMap(eventOf),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
};

const eventOf = (task: ListedTask): string[] => {
  const tags: string[] = JSON.parse(task.tags);
  return [
    ...['BEGIN:VEVENT', `UID:${task.id}@adjutant`, 'SEQUENCE:0'],
    `DTSTAMP:${stamp(task.updated_at)}`,
    ...timesOf(task),
    `SUMMARY:${escaped(task.title)}`,
    'TRANSP:TRANSPARENT',
    ...(task.notes === null ? [] : [`DESCRIPTION:${escaped(shortened(task.notes))}`]),
    ...(task.priority > 0 ? [`PRIORITY:${PRIORITIES[task.priority]}`] : []),
    ...(tags.length > 0 ? [`CATEGORIES:${tags.map(escaped).join(',')}`] : []),
    `CREATED:${stamp(task.created_at)}`,
    `LAST-MODIFIED:${stamp(task.updated_at)}`,
    'END:VEVENT',
  ];
};

/** The priorities of the format, of which 1 is the most urgent, by those of tasks. */
const PRIORITIES = [0, 9, 5, 1];

/** Returns the lines of the whole day that a task is due, in any zone, or of the time. */
const timesOf = ({ due, due_at }: ListedTask): string[] => {
  if (due !== null) return [`DTSTART;VALUE=DATE:${due.replaceAll('-', '')}`];
  const start = new Date(due_at ?? '');
  const end = new Date(start.getTime() + LENGTH_MS);
  return [`DTSTART:${stamp(start.toISOString())}`, `DTEND:${stamp(end.toISOString())}`];
};

/** Returns a time of ISO 8601 as the format has it: `20260131T093000Z`. */
const stamp = (at: string): string => `${at.slice(0, 19).replace(/[-:]/g, '')}Z`;

const shortened = (notes: string): string =>
  notes.length > LONGEST_NOTES ? `${notes.slice(0, LONGEST_NOTES)}…` : notes;

/** Returns a value of text, without the control characters that the format does not allow. */
const escaped = (text: string): string => {
  if (!SPECIAL.test(text)) return text;
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n');
};

/** Folds a line that is too long, between characters. */
const folded = (line: string): string => {
  if (ASCII.test(line)) {
    const pieces = line.length <= LINE_OCTETS ? [line] : (line.match(ASCII_PIECES) ?? []);
    return pieces.join('\r\n ');
  }
  let text = '';
  let octets = 0;
  for (const character of line) {
    const size = octetsOf(character);
    if (octets + size > LINE_OCTETS) {
      text += '\r\n ';
      octets = 1;
    }
    text += character;
    octets += size;
  }
  return text;
};

/** Returns the octets of a character in UTF-8. */
const octetsOf = (character: string): number => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
};
