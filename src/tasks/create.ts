import Boom from '@hapi/boom';
import { iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { throwIfFaults } from '../kernel/route.js';
import { searchWords } from '../kernel/searchwords.js';
import type { QueuedMessage } from '../outbound/module.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import type { TaskRow } from '../store/tables/tasks.js';
import { retryUntilWritten } from '../store/updateif.js';
import type { NewTask, TaskView } from './contract.js';
import { commitGuarded, findTask, type GuardedStep, TASK_CHANGED, type TasksDeps } from './deps.js';
import { nextReminder } from './dues.js';
import { dueColumns, faultsOfTask, normalizeTaskTitle, searchableTaskText } from './fields.js';
import { linkSteps, parentSteps } from './links.js';
import { viewTask } from './view.js';
import {
  assertTaskLimit,
  insertTask,
  MANUAL_AUTHOR,
  MAX_UNFINISHED,
  MAX_UNTRUSTED,
  replaceTags,
  replaceWords,
  type TaskAuthor,
} from './writes.js';

export interface TaskOrigin {
  author: TaskAuthor;
  source: TaskView['source'];
  recurringTaskId?: string;
  /** ID of the tool call. It is the same for all retries, so that only one task is created. */
  effectId?: string;
}

export interface RecurringTaskInput extends NewTask {
  recurringTaskId: string;
}

export interface TaskInsertion extends QueuedMessage {
  id: string;
}

/** Throws 400, or 409 `too_many_tasks`. */
export const createTask = async (
  deps: TasksDeps,
  userId: string,
  input: NewTask,
  origin: TaskOrigin,
): Promise<TaskView> => {
  const { row, steps } = await prepared(deps, userId, input, origin);
  try {
    await retryUntilWritten(() => commitGuarded(deps.store, steps));
  } catch (error) {
    const existing = origin.effectId && (await deps.tasks.ofEffect(userId, origin.effectId));
    if (error instanceof UniqueViolation && existing) return viewTask(existing);
    throw error;
  }
  const task = viewTask(await findTask(deps, userId, row.id));
  deps.hub.publish(userId, TASK_CHANGED, task);
  return task;
};

/**
 * Builds the statements that insert a task of a recurring task. The first statement fails if the
 * user has reached the task limit. Throws the 400 of `createTask`.
 */
export const taskInsertion = async (
  deps: TasksDeps,
  userId: string,
  { recurringTaskId, ...input }: RecurringTaskInput,
): Promise<TaskInsertion> => {
  const source = { kind: 'recurring' as const, id: recurringTaskId };
  const origin = { author: MANUAL_AUTHOR, source, recurringTaskId };
  const { row, steps } = await prepared(deps, userId, input, origin);
  const blocked_by = JSON.stringify(input.blockedBy ?? []);
  const view = viewTask({ ...row, untrusted: 0, blocked_by });
  return {
    id: row.id,
    statements: steps.map(({ step }) => step),
    published: () => deps.hub.publish(userId, TASK_CHANGED, view),
  };
};

type NewRow = Omit<TaskRow, 'untrusted'>;

const prepared = async (
  deps: TasksDeps,
  userId: string,
  input: NewTask,
  { author, source, recurringTaskId, effectId }: TaskOrigin,
): Promise<{ row: NewRow; steps: GuardedStep[] }> => {
  throwIfFaults(faultsOfTask(input));
  const now = deps.clock.now();
  const preferences = await deps.preferencesOf(userId);
  const { reminderMinutes = preferences.reminderMinutes, tags = [] } = input;
  const withoutReminder = {
    id: mint('task', now),
    user_id: userId,
    title: normalizeTaskTitle(input.title),
    notes: input.notes || null,
    status: 'open' as const,
    priority: input.priority ?? 0,
    ...dueColumns(input, null, preferences.timezone),
    reminder_minutes: reminderMinutes,
    tags: JSON.stringify(tags),
    parent_id: input.parentId ?? null,
    agent_id: null,
    source_kind: source.kind,
    source_id: source.id,
    recurring_task_id: recurringTaskId ?? null,
    effect_id: effectId ?? null,
    completed_at: null,
    created_at: iso(now),
    updated_at: iso(now),
  };
  const row = { ...withoutReminder, remind_at: nextReminder(withoutReminder, now) };
  const words = await searchWords(searchableTaskText(row));
  return { row, steps: insertionSteps(deps, row, { author, words, input }) };
};

const insertionSteps = (
  deps: TasksDeps,
  row: NewRow,
  { author, words, input }: { author: TaskAuthor; words: string[]; input: NewTask },
): GuardedStep[] => [
  { step: assertTaskLimit(row.user_id, author), fault: taskLimitReached },
  ...parentSteps(deps, row, input),
  { step: insertTask(row, author) },
  ...[...replaceTags(row, row.tags), ...replaceWords(row, words)].map((step) => ({ step })),
  ...linkSteps(deps, row, input),
];

const taskLimitReached = (): Boom.Boom =>
  Boom.conflict(
    `You can have at most ${MAX_UNFINISHED} open tasks, ${MAX_UNTRUSTED} of which can be untrusted. Complete or delete some tasks first`,
    { code: 'too_many_tasks' },
  );
