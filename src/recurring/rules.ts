import { setImmediate as nextTurn } from 'node:timers/promises';
import { iso } from '../kernel/clock.js';
import type { FieldFault } from '../kernel/problem.js';
import { nextOccurrence, type Recurrence } from '../schedule/module.js';
import type { RecurringTaskRow } from '../store/tables/recurringtasks.js';

/** Due times that are later count as missed. */
const ON_TIME_MS = 60_000;
const MAX_MADE_UP = 100;
const MAX_COUNTED = 10_000;
/** If the last due time is further ahead than this, the clock was wrong when it fired. */
const WRONG_CLOCK_MS = 24 * 3600 * 1000;
/** Times computed per turn of the event loop. */
const PER_TURN = 20;

export interface DuePlan {
  run: string[];
  skipped: number;
  /** Whether more times were missed than are counted. */
  isMore: boolean;
  lastDueAt: string;
  nextAt: string | null;
}

export type RecurrenceRow = Pick<
  RecurringTaskRow,
  'schedule' | 'starts_at' | 'ends_at' | 'last_due_at'
>;

const parseSchedule = ({ schedule }: Pick<RecurringTaskRow, 'schedule'>): Recurrence =>
  JSON.parse(schedule);

/**
 * Returns the next due time after `now` (ms), or null. Never returns an earlier due time again,
 * even if the clock was set back.
 */
export const nextRunAt = async (row: RecurrenceRow, now: number): Promise<string | null> => {
  const lastDue = row.last_due_at === null ? 0 : Date.parse(row.last_due_at);
  const after = lastDue - now > WRONG_CLOCK_MS ? now : Math.max(now, lastDue);
  return beforeEnd(row, await occurrenceAfter(row, after));
};

export const planDue = async (
  row: RecurringTaskRow & { next_run_at: string },
  now: number,
): Promise<DuePlan> => {
  const latest: string[] = [];
  let total = 0;
  let at: string | null = row.next_run_at;
  while (at !== null && at <= iso(now) && total < MAX_COUNTED) {
    latest.push(at);
    if (latest.length > MAX_MADE_UP) latest.shift();
    if (++total % PER_TURN === 0) await nextTurn();
    at = beforeEnd(row, await occurrenceAfter(row, Date.parse(at)));
  }
  const isMore = at !== null && at <= iso(now);
  const nextAt = isMore ? beforeEnd(row, await occurrenceAfter(row, now)) : at;
  const lastDueAt = latest.at(-1) ?? row.next_run_at;
  const run = dueTimesToRun(row.missed, latest, now);
  return { run, skipped: total - run.length, isMore, lastDueAt, nextAt };
};

const dueTimesToRun = (
  missed: RecurringTaskRow['missed'],
  latest: string[],
  now: number,
): string[] => {
  if (missed === 'all') return latest;
  const last = latest.at(-1);
  if (last === undefined) return [];
  return missed === 'once' || now - Date.parse(last) <= ON_TIME_MS ? [last] : [];
};

const occurrenceAfter = (row: RecurrenceRow, after: number): Promise<string | null> =>
  nextOccurrence(parseSchedule(row), Date.parse(row.starts_at), after);

const beforeEnd = ({ ends_at }: RecurrenceRow, at: string | null): string | null =>
  at === null || (ends_at !== null && at > ends_at) ? null : at;

export const previewTimes = async (
  recurrence: Recurrence,
  now: number,
  count: number,
): Promise<string[]> => {
  const times: string[] = [];
  let at = await nextOccurrence(recurrence, now, now);
  while (at !== null && times.length < count) {
    times.push(at);
    await nextTurn();
    at = await nextOccurrence(recurrence, now, Date.parse(at));
  }
  return times;
};

const FIELDS = {
  create_task: ['title', 'notes', 'priority', 'tags', 'dueInMinutes'],
  spawn_agent: [
    ...['agentPrompt', 'agentTopic', 'agentModel', 'agentTools'],
    ...['orchestrated', 'memory', 'notifyOwner'],
  ],
  start_pipeline: ['templateId', 'params'],
  run_hook: ['hookId', 'payload'],
  notify: ['notifyMessage', 'notifyOwner'],
};

export const disallowedFields = (
  action: RecurringTaskRow['action'],
  config: object,
): FieldFault[] =>
  Object.keys(config)
    .filter((field) => !FIELDS[action].includes(field))
    .map((field) => ({
      path: `actionConfig.${field}`,
      message: `is not allowed for the action ${action}`,
    }));
