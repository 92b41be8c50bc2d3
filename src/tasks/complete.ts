import Boom from '@hapi/boom';
import { iso } from '../kernel/clock.js';
import type { QueuedMessage } from '../outbound/module.js';
import { assertRows } from '../store/store.js';
import { retryUntilWritten } from '../store/updateif.js';
import type { TaskView } from './contract.js';
import { commitGuarded, findTask, type GuardedStep, publishTasks, type TasksDeps } from './deps.js';
import { isToDo } from './dues.js';
import type { ListedTask } from './selections.js';
import { viewTask } from './view.js';
import { completeTasks, type TaskAuthor } from './writes.js';

interface Completion {
  cascade: boolean;
  author: TaskAuthor;
  /** Number of times that the cause has come back to this daemon. */
  hops?: number | undefined;
}

/**
 * Completes a task. Does nothing if it is already done. Throws 409 `task_blocked`, `task_has_parts`
 * or `task_archived`.
 */
export const completeTask = async (
  deps: TasksDeps,
  userId: string,
  id: string,
  { cascade, author, hops }: Completion,
): Promise<TaskView> => {
  const completed = await retryUntilWritten(async () => {
    const row = await findTask(deps, userId, id);
    refuseArchived(row);
    if (!isToDo(row.status)) return [];
    const select = deps.tasks.selections(userId);
    const parts = cascade ? await select.openBelow(id).execute() : [];
    const { title, untrusted } = row;
    const tasks: [NamedTask, ...NamedTask[]] = [{ id, title, untrusted }, ...parts];
    const at = iso(deps.clock.now());
    const { steps, published } = completionSteps(deps, userId, { tasks, at, author, hops });
    if (!(await commitGuarded(deps.store, steps))) return null;
    published();
    return tasks.map((task) => task.id);
  });
  await publishTasks(deps, userId, completed);
  return viewTask(await findTask(deps, userId, id));
};

export const refuseArchived = ({ status }: Pick<ListedTask, 'status'>): void => {
  if (status !== 'archived') return;
  throw Boom.conflict('The task is archived. Reopen it first', { code: 'task_archived' });
};

type NamedTask = Pick<ListedTask, 'id' | 'title' | 'untrusted'>;

interface CompletedTasks extends Omit<Completion, 'cascade'> {
  tasks: [NamedTask, ...NamedTask[]];
  at: string;
  /** Blockers that the same request sets. Otherwise the stored blockers apply. */
  blockedBy?: string[] | undefined;
}

export const completionSteps = (
  deps: TasksDeps,
  userId: string,
  { tasks, at, author, hops, blockedBy }: CompletedTasks,
): { steps: GuardedStep[]; published(): void } => {
  const select = deps.tasks.selections(userId);
  const ids = tasks.map(({ id }) => id);
  const below = select.openBelow(tasks[0].id);
  const blockers = select.openBlockers(ids);
  const events = tasks.map(
    (task): QueuedMessage =>
      deps.outbound.toWebhooks(userId, {
        type: 'task.completed',
        data: buildCompletionEvent(task, at, author),
        hops,
      }),
  );
  const steps: GuardedStep[] = [
    { step: completeTasks(userId, { ids, at, author }) },
    {
      step: assertRows(below, 0),
      fault: async () => hasParts(tasks[0].id, await below.execute()),
    },
    {
      step: assertRows(blockers, 0),
      fault: async () => {
        const requested = blockedBy && select.openAmong(blockedBy);
        return isBlocked(await (requested ?? blockers).execute());
      },
    },
    ...events.flatMap(({ statements }) => statements).map((step) => ({ step })),
  ];
  return {
    steps,
    published: () => {
      for (const { published } of events) published();
    },
  };
};

const buildCompletionEvent = (
  { id, title, untrusted }: NamedTask,
  completedAt: string,
  { agentId }: TaskAuthor,
): Record<string, unknown> => ({
  taskId: id,
  title,
  untrusted: untrusted === 1,
  completedAt,
  agentId,
  links: { task: `/api/tasks/${id}` },
});

const MAX_NAMED = 5;

const formatTaskNames = (tasks: NamedTask[]): string => {
  const named = tasks.slice(0, MAX_NAMED).map(({ id, title }) => `${title.slice(0, 80)} (${id})`);
  const more = tasks.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const hasParts = (id: string, parts: NamedTask[]): Boom.Boom => {
  const way = `To complete them as well, use POST /api/tasks/${id}/complete?cascade=true`;
  return Boom.conflict(`The task has open subtasks: ${formatTaskNames(parts)}. ${way}`, {
    code: 'task_has_parts',
  });
};

const isBlocked = (blockers: NamedTask[]): Boom.Boom =>
  Boom.conflict(`The task is blocked. Complete these tasks first: ${formatTaskNames(blockers)}`, {
    code: 'task_blocked',
  });
