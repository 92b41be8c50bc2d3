import { iso } from '../kernel/clock.js';
import { parseIsoTime } from '../kernel/contract/moment.js';
import { dayAt, resolveLocalInstants, startOfDay } from '../kernel/zonetime.js';
import type { TaskRow } from '../store/tables/tasks.js';

const MINUTE_MS = 60_000;

/** Returns the last millisecond of a day in a time zone. */
export const endOfDay = (timezone: string, day: string): string =>
  iso(startOfDay(timezone, day, 1) - 1);

export const endsAt = ({
  due,
  due_at,
  timezone,
}: Pick<TaskRow, 'due' | 'due_at' | 'timezone'>): string | null =>
  due === null ? due_at : endOfDay(timezone, due);

/**
 * Returns the time of the next reminder, or null. If it has already passed at `now`, the due time
 * is used instead, so that a task due "in ten minutes" still has a reminder.
 */
export const nextReminder = (
  {
    status,
    due_at,
    reminder_minutes: minutes,
  }: Pick<TaskRow, 'status' | 'due_at' | 'reminder_minutes'>,
  now: number,
): string | null => {
  if (!isToDo(status) || due_at === null || minutes === null) return null;
  const dueAt = Date.parse(due_at);
  if (dueAt <= now) return null;
  const at = dueAt - minutes * MINUTE_MS;
  return iso(at > now ? at : dueAt);
};

export const isToDo = (status: TaskRow['status']): boolean =>
  status === 'open' || status === 'in_progress';

/** Years 1900 to 9998. */
export const isCalendarDay = (day: string): boolean => {
  const at = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(at) && iso(at).startsWith(day) && day >= '1900' && day < '9999';
};

/**
 * Returns a time in UTC, or null if it is invalid. Without an offset it is a local time in
 * `timezone`; if that exists twice, the first one.
 */
export const parseTaskTime = (timezone: string, text: string): string | null => {
  const time = isCalendarDay(text.trim().slice(0, 10)) ? parseIsoTime(text) : null;
  if (time === null) return null;
  const { wall, offset } = time;
  return iso(offset === null ? resolveLocalInstants(timezone, wall)[0] : wall - offset);
};

/** `from` is inclusive, `to` is exclusive. `null` means no bound. */
export interface DueRange {
  from: string | null;
  to: string;
}

export const dueRange = (
  filter: 'overdue' | 'today' | 'week',
  timezone: string,
  now: number,
): DueRange => {
  if (filter === 'overdue') return { from: null, to: iso(now) };
  const today = dayAt(timezone, now);
  const days = filter === 'today' ? 1 : 7;
  return { from: iso(startOfDay(timezone, today)), to: iso(startOfDay(timezone, today, days)) };
};
