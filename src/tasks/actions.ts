import { isBoom } from '@hapi/boom';
import {
  type TaskActions,
  type TaskToolCaller,
  ToolRefused,
  type ToolTask,
} from '../tools/module.js';
import { updateTask } from './change.js';
import { completeTask } from './complete.js';
import type { TaskView } from './contract.js';
import { createTask } from './create.js';
import type { TasksDeps } from './deps.js';
import { listTasks } from './list.js';
import { viewTask } from './view.js';
import type { TaskAuthor } from './writes.js';

export const taskActions = (deps: TasksDeps): TaskActions => ({
  list: async (userId, query) => {
    const { rows } = await orRefused(listTasks(deps, userId, query));
    return rows.map((row) => toolTask(viewTask(row)));
  },
  create: (userId, task, by) => {
    const origin = { author: toTaskAuthor(by), source: toTaskSource(by), effectId: by.effectId };
    return shown(createTask(deps, userId, task, origin));
  },
  update: (userId, id, changes, by) =>
    shown(updateTask(deps, userId, id, { changes, author: toTaskAuthor(by), hops: by.hops })),
  complete: (userId, id, cascade, by) =>
    shown(completeTask(deps, userId, id, { cascade, author: toTaskAuthor(by), hops: by.hops })),
});

const toTaskAuthor = ({ agentId, executionId, runId }: TaskToolCaller): TaskAuthor => ({
  agentId,
  executionId,
  runId,
});

const toTaskSource = ({ agentId, executionId, runId }: TaskToolCaller): TaskView['source'] => {
  if (agentId !== null) return { kind: 'agent', id: agentId };
  const id = executionId ?? runId ?? null;
  return { kind: id === null ? 'person' : 'execution', id };
};

const shown = async (change: Promise<TaskView>): Promise<ToolTask> =>
  toolTask(await orRefused(change));

const toolTask = ({
  reminderMinutes: _reminder,
  source: _source,
  recurringTaskId: _recurring,
  completedAt: _completed,
  createdAt: _created,
  updatedAt: _updated,
  ...task
}: TaskView): ToolTask => task;

const orRefused = async <T>(verb: Promise<T>): Promise<T> => {
  try {
    return await verb;
  } catch (error) {
    if (isBoom(error)) throw new ToolRefused(error.message);
    throw error;
  }
};
