import type { FieldFault } from '../kernel/problem.js';
import { normalizeTimezone, parseTimezone } from '../kernel/timezone.js';
import type { TaskRow } from '../store/tables/tasks.js';
import type { NewTask, TaskChanges } from './contract.js';
import { endsAt, isCalendarDay, parseTaskTime } from './dues.js';
import { getAssignee, ME } from './view.js';

type DueInput = Pick<NewTask, 'due' | 'dueAt' | 'timezone'>;
type DueColumns = Pick<TaskRow, 'due' | 'due_at' | 'timezone' | 'follows_zone' | 'ends_at'>;

export const faultsOfTask = ({ due, dueAt, timezone }: DueInput): FieldFault[] => {
  const faults: FieldFault[] = [];
  if (due && dueAt) {
    faults.push({ path: 'dueAt', message: 'cannot be combined with due' });
  }
  if (due && !isCalendarDay(due)) faults.push({ path: 'due', message: 'must be a valid date' });
  if (dueAt && parseTaskTime('UTC', dueAt) === null) {
    faults.push({ path: 'dueAt', message: 'must be a valid time' });
  }
  if (timezone && parseTimezone(timezone) === null) {
    faults.push({ path: 'timezone', message: 'must be a time zone, such as "Europe/Berlin"' });
  }
  return faults;
};

export const faultsOfAssignee = (
  { assignee }: Pick<TaskChanges, 'assignee'>,
  row: Pick<TaskRow, 'agent_id'>,
): FieldFault[] =>
  assignee === undefined || assignee === ME || assignee === getAssignee(row)
    ? []
    : [
        {
          path: 'assignee',
          message: 'can only be set to "me". To assign an agent, delegate the task',
        },
      ];

/**
 * Setting a day removes the time, and the other way round. Fields that are not set keep the values
 * of `before`.
 */
export const dueColumns = (
  { due: day, dueAt: time, timezone: zone }: DueInput,
  before: DueColumns | null,
  preferredZone: string,
): DueColumns => {
  const follows = zone === undefined ? (before?.follows_zone ?? 1) : Number(zone === null);
  const timezone =
    follows === 1 ? preferredZone : normalizeTimezone(zone ?? before?.timezone ?? preferredZone);
  const keptDay = time ? null : (before?.due ?? null);
  const keptTime = day ? null : (before?.due_at ?? null);
  const due = day === undefined ? keptDay : day;
  const due_at = time === undefined ? keptTime : time && parseTaskTime(timezone, time);
  const columns = { due, due_at, timezone };
  return { ...columns, follows_zone: follows, ends_at: endsAt(columns) };
};

export const normalizeTaskTitle = (given: string): string => given.replace(/\s+/g, ' ').trim();

export const searchableTaskText = ({ title, notes }: Pick<TaskRow, 'title' | 'notes'>): string =>
  `${title}\n${notes ?? ''}`;
