import type { TaskView } from '../../src/tasks/contract.js';
import { useTime } from '../state/clock.js';

const OVER = ['done', 'archived'];

/** Due time on the reader's clock, marked if overdue. */
export const TaskDue = ({ task: { due, dueAt, timezone, status } }: { task: TaskView }) => {
  const now = useTime(30_000);
  if (due === null && dueAt === null) return <>no date</>;
  const isLate = due === null ? now > Date.parse(dueAt ?? '') : due < dayIn(timezone, now);
  return (
    <>
      {isLate && !OVER.includes(status) && <span class="state danger">overdue </span>}
      <time dateTime={due ?? dueAt ?? ''}>
        {due === null ? timeText(dueAt ?? '') : dayText(due)}
      </time>
    </>
  );
};

/** Calendar day of a time zone: `2026-01-31`. */
const dayIn = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone }).format(at);

const timeText = (at: string): string =>
  new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A day is the same in every time zone. */
const dayText = (day: string): string =>
  new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, {
    dateStyle: 'medium',
    timeZone: 'UTC',
  });
