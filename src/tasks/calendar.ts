import { setImmediate as nextTurn } from 'node:timers/promises';
import { excerpt } from '../kernel/excerpt.js';
import type { ListedTask } from './selections.js';

/** Calendar applications hide events without a duration. */
const LENGTH_MS = 15 * 60_000;

/** Limits the work for a feed with many long notes. */
const MAX_NOTES_LENGTH = 2000;
/** Tasks written per turn of the event loop, which takes about 5 ms. */
const AT_ONCE = 25;

/**
 * Formats due tasks as an iCalendar document (RFC 5545). Uses events, because Google Calendar and
 * Apple Calendar do not show VTODO of subscribed calendars. Without alarms, because reminders are
 * notifications. The library is loaded on first use.
 */
export const renderTaskCalendar = async (tasks: ListedTask[]): Promise<string> => {
  const { default: createCalendar, ICalEventTransparency } = await import('ical-generator');
  const transparency = ICalEventTransparency.TRANSPARENT;
  const calendarWith = (some: ListedTask[]): string => {
    const calendar = createCalendar({
      name: 'Tasks',
      prodId: { company: 'Adjutant', product: 'Tasks', language: 'EN' },
    });
    for (const task of some) calendar.createEvent({ ...toCalendarEvent(task), transparency });
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

const toCalendarEvent = (task: ListedTask) => ({
  id: `${task.id}@adjutant`,
  stamp: new Date(task.updated_at),
  lastModified: new Date(task.updated_at),
  created: new Date(task.created_at),
  summary: printable(task.title),
  ...toEventTimes(task),
  ...(task.notes !== null && { description: printable(excerpt(task.notes, MAX_NOTES_LENGTH)) }),
  ...(task.priority > 0 && { priority: PRIORITIES[task.priority] }),
  categories: parseTags(task).map((name) => ({ name })),
});

/** Removes control characters that iCalendar does not allow. */
const printable = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');

/** iCalendar priorities by task priority. In iCalendar, 1 is the most urgent. */
const PRIORITIES = [0, 9, 5, 1];

const parseTags = ({ tags }: ListedTask): string[] => JSON.parse(tags);

const toEventTimes = ({ due, due_at }: ListedTask) => {
  if (due === null) {
    const start = new Date(due_at ?? '');
    return { start, end: new Date(start.getTime() + LENGTH_MS) };
  }
  const start = new Date(`${due}T00:00:00Z`);
  return { allDay: true, start, timezone: 'UTC' };
};
