import { isTimezone } from '../kernel/clock.js';
import type { FieldFault } from '../kernel/problem.js';
import type { TaskRow } from '../store/tables/tasks.js';
import type { NewTask, TaskChanges } from './contract.js';
import { endsAt, isDay, timeIn } from './dues.js';
import { assigneeOf, ME } from './view.js';

/** The fields that say when a task is due. */
type GivenDue = Pick<NewTask, 'due' | 'dueAt' | 'timezone'>;
type DueColumns = Pick<TaskRow, 'due' | 'due_at' | 'timezone' | 'follows_zone' | 'ends_at'>;

/** Returns the faults of the fields of a task beyond their schema. */
export const faultsOfTask = ({ due, dueAt, timezone }: GivenDue): FieldFault[] => {
  const faults: FieldFault[] = [];
  if (due && dueAt) {
    faults.push({ path: 'dueAt', message: 'cannot be combined with due' });
  }
  if (due && !isDay(due)) faults.push({ path: 'due', message: 'must be a valid date' });
  if (dueAt && timeIn('UTC', dueAt) === null) {
    faults.push({ path: 'dueAt', message: 'must be a valid time' });
  }
  if (timezone && !isTimezone(timezone)) {
    faults.push({ path: 'timezone', message: 'must be a time zone, such as "Europe/Berlin"' });
  }
  return faults;
};

/** Returns the fault of an assignee: only `delegate` gives a task to an agent. */
export const faultsOfAssignee = (
  { assignee }: Pick<TaskChanges, 'assignee'>,
  row: Pick<TaskRow, 'agent_id'>,
): FieldFault[] =>
  assignee === undefined || assignee === ME || assignee === assigneeOf(row)
    ? []
    : [
        {
          path: 'assignee',
          message: 'can only be set to "me". To assign an agent, delegate the task',
        },
      ];

/**
 * Returns the columns that say when a task is due. A day takes the place of a time and the other way
 * round; what is not given stays as it was in `before`.
 */
export const dueColumns = (
  { due: day, dueAt: time, timezone: zone }: GivenDue,
  before: DueColumns | null,
  preferredZone: string,
): DueColumns => {
  const follows = zone === undefined ? (before?.follows_zone ?? 1) : Number(zone === null);
  const timezone = follows === 1 ? preferredZone : (zone ?? before?.timezone ?? preferredZone);
  const keptDay = time ? null : (before?.due ?? null);
  const keptTime = day ? null : (before?.due_at ?? null);
  const due = day === undefined ? keptDay : day;
  const due_at = time === undefined ? keptTime : time && timeIn(timezone, time);
  const columns = { due, due_at, timezone };
  return { ...columns, follows_zone: follows, ends_at: endsAt(columns) };
};

/** Returns the title on one line. */
export const taskTitleOf = (given: string): string => given.replace(/\s+/g, ' ').trim();

/** Returns the text by whose words a task is found. */
export const searchedText = ({ title, notes }: Pick<TaskRow, 'title' | 'notes'>): string =>
  `${title}\n${notes ?? ''}`;
