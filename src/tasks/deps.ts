import type { Clock } from '../kernel/clock.js';
import { orNotFound } from '../kernel/route.js';
import type { Outbound, TaskPreferences } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { type Store, unmetStep } from '../store/store.js';
import type { TasksStore } from './queries.js';
import type { ListedTask } from './selections.js';
import { viewTask } from './view.js';

/** The dependencies of all that is done with tasks. */
export interface TasksDeps {
  store: Store;
  clock: Clock;
  hub: Pick<Hub, 'publish'>;
  outbound: Pick<Outbound, 'toWebhooks'>;
  tasks: TasksStore;
  preferencesOf(userId: string): Promise<TaskPreferences>;
}

/** The topic of what changed. A deleted task comes as `{ id, deleted: true }`. */
export const TASK_CHANGED = 'task.changed';

export const findTask = async (
  { tasks }: { tasks: TasksStore },
  userId: string,
  id: string,
): Promise<ListedTask> => orNotFound(await tasks.get(userId, id), 'No task with that id');

/** Publishes tasks as they are now. */
export const publishTasks = async (
  { tasks, hub }: { tasks: TasksStore; hub: Pick<Hub, 'publish'> },
  userId: string,
  ids: string[],
): Promise<void> => {
  for (const row of await tasks.some(userId, ids)) {
    hub.publish(userId, TASK_CHANGED, viewTask(row));
  }
};

/** A step of a transaction, and the error that says why its expectation was not met. */
export interface CheckedStep {
  step: TransactionStep;
  /** Absent: what was read has changed since, so that all is read and tried again. */
  fault?(): Error | Promise<Error>;
}

/**
 * Commits the steps together. Resolves to null if one without a fault does not hold; throws the
 * fault of another one.
 */
export const commitChecked = async (
  { transact }: Pick<Store, 'transact'>,
  steps: CheckedStep[],
): Promise<true | null> => {
  const unmet = await unmetStep(transact(steps.map(({ step }) => step)));
  if (unmet === null) return true;
  const fault = await steps[unmet]?.fault?.();
  if (fault) throw fault;
  return null;
};
