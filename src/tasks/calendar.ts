import { setImmediate as nextTurn } from 'node:timers/promises';
import { excerpt } from '../kernel/excerpt.js';
import type { ListedTask } from './selections.js';

/** The time that an event takes whose task is due at a time: calendars hide those of no length. */
const LENGTH_MS = 15 * 60_000;

/** Ours: the characters of notes that a calendar shows, so that many long ones hold up nobody. */
const MAX_NOTES_LENGTH = 2000;
/** Ours: the tasks that are written in one turn of the event loop; they take some 5 ms. */
const AT_ONCE = 25;

/**
 * Writes tasks that are due as a calendar (RFC 5545). Ours: as events, since Google Calendar and
 * Apple Calendar show no VTODO of an address that they subscribe to; as free time, and without
 * alarms, since the reminders are notifications. The library is loaded when it is first needed.
 */
export const calendarOf = async (tasks: ListedTask[]): Promise<string> => {
  const { default: createCalendar, ICalEventTransparency } = await import('ical-generator');
  const transparency = ICalEventTransparency.TRANSPARENT;
  const calendarWith = (some: ListedTask[]): string => {
    const calendar = createCalendar({
      name: 'Tasks',
      prodId: { company: 'Adjutant', product: 'Tasks', language: 'EN' },
    });
    for (const task of some) calendar.createEvent({ ...eventOf(task), transparency });
    return calendar.toString();
  };
  const empty = calendarWith([]);
  const head = empty.slice(0, empty.lastIndexOf(END));
  const events: string[] = [];
  for (let at = 0; at < tasks.length; at += AT_ONCE) {
    const text = calendarWith(tasks.slice(at, at + AT_ONCE));
    events.push(text.slice(text.indexOf(EVENT), text.lastIndexOf(END)));
    await nextTurn();
  }
  return [head, ...events, empty.slice(head.length)].join('');
};

const EVENT = 'BEGIN:VEVENT';
const END = 'END:VCALENDAR';

const eventOf = (task: ListedTask) => ({
  id: `${task.id}@adjutant`,
  stamp: new Date(task.updated_at),
  lastModified: new Date(task.updated_at),
  created: new Date(task.created_at),
  summary: printable(task.title),
  ...timesOf(task),
  ...(task.notes !== null && { description: printable(excerpt(task.notes, MAX_NOTES_LENGTH)) }),
  ...(task.priority > 0 && { priority: PRIORITIES[task.priority] }),
  categories: tagsOf(task).map((name) => ({ name })),
});

/** Returns a text without the control characters that the format does not allow. */
const printable = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');

/** The priorities of the format, of which 1 is the most urgent, by those of tasks. */
const PRIORITIES = [0, 9, 5, 1];

const tagsOf = ({ tags }: ListedTask): string[] => JSON.parse(tags);

/** Returns the whole day that a task is due, in any zone, or the time. */
const timesOf = ({ due, due_at }: ListedTask) => {
  if (due === null) {
    const start = new Date(due_at ?? '');
    return { start, end: new Date(start.getTime() + LENGTH_MS) };
  }
  const start = new Date(`${due}T00:00:00Z`);
  return { allDay: true, start, timezone: 'UTC' };
};
