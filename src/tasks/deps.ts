import type { Clock } from '../kernel/clock.js';
import { orNotFound } from '../kernel/route.js';
import type { Outbound, TaskPreferences } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { type Store, unmetStep } from '../store/store.js';
import type { TasksStore } from './queries.js';
import type { ListedTask } from './selections.js';
import { viewTask } from './view.js';

export interface TasksDeps {
  store: Store;
  clock: Clock;
  hub: Pick<Hub, 'publish'>;
  outbound: Pick<Outbound, 'toWebhooks'>;
  tasks: TasksStore;
  preferencesOf(userId: string): Promise<TaskPreferences>;
}

/** A deleted task is published as `{ id, deleted: true }`. */
export const TASK_CHANGED = 'task.changed';

export const findTask = async (
  { tasks }: { tasks: TasksStore },
  userId: string,
  id: string,
): Promise<ListedTask> => orNotFound(await tasks.get(userId, id), 'No task with that id');

export const publishTasks = async (
  { tasks, hub }: { tasks: TasksStore; hub: Pick<Hub, 'publish'> },
  userId: string,
  ids: string[],
): Promise<void> => {
  for (const row of await tasks.some(userId, ids)) {
    hub.publish(userId, TASK_CHANGED, viewTask(row));
  }
};

export interface GuardedStep {
  step: TransactionStep;
  /** Without it, the task has changed since it was read, and the operation is retried. */
  fault?(): Error | Promise<Error>;
}

/** Resolves to null if a step without a fault fails. Throws the fault of any other failed step. */
export const commitGuarded = async (
  { transact }: Pick<Store, 'transact'>,
  steps: GuardedStep[],
): Promise<true | null> => {
  const unmet = await unmetStep(transact(steps.map(({ step }) => step)));
  if (unmet === null) return true;
  const fault = await steps[unmet]?.fault?.();
  if (fault) throw fault;
  return null;
};
