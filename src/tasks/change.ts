import Boom from '@hapi/boom';
import { throwIfFaults } from '../kernel/route.js';
import { searchWords } from '../kernel/searchwords.js';
import { assertRows } from '../store/store.js';
import type { TaskRow } from '../store/tables/tasks.js';
import { updateIf } from '../store/updateif.js';
import { completionSteps, refuseArchived } from './complete.js';
import type { TaskChanges, TaskView } from './contract.js';
import {
  commitGuarded,
  findTask,
  type GuardedStep,
  publishTasks,
  TASK_CHANGED,
  type TasksDeps,
} from './deps.js';
import { isToDo, nextReminder } from './dues.js';
import {
  dueColumns,
  faultsOfAssignee,
  faultsOfTask,
  normalizeTaskTitle,
  searchableTaskText,
} from './fields.js';
import { linkSteps, parentSteps } from './links.js';
import type { ListedTask } from './selections.js';
import { viewTask } from './view.js';
import {
  assertTaskExists,
  changeTask,
  deleteTree,
  replaceTags,
  replaceWords,
  type TaskAuthor,
} from './writes.js';

interface TaskChangeInput {
  changes: TaskChanges;
  author: TaskAuthor;
  hops?: number | undefined;
}

/** Updates a task. `status: "done"` follows the rules of `completeTask`. */
export const updateTask = async (
  deps: TasksDeps,
  userId: string,
  id: string,
  { changes, author, hops }: TaskChangeInput,
): Promise<TaskView> => {
  throwIfFaults(faultsOfTask(changes));
  await updateIf({
    clock: deps.clock,
    read: () => findTask(deps, userId, id),
    write: async (row, version) => {
      throwIfFaults(faultsOfAssignee(changes, row));
      const completes = changes.status === 'done' && row.status !== 'done';
      if (completes) refuseArchived(row);
      const change = await buildTaskChanges(deps, row, changes);
      const task = { id, title: change.title ?? row.title, untrusted: row.untrusted };
      const { blockedBy } = changes;
      const completion = completes
        ? completionSteps(deps, userId, { tasks: [task], at: version, author, hops, blockedBy })
        : null;
      const written = await commitGuarded(deps.store, [
        ...parentSteps(deps, row, changes),
        { step: changeTask(row, { ...change, updated_at: version }, author) },
        ...(await textSteps(row, change)),
        ...linkSteps(deps, row, changes),
        ...(completion?.steps ?? []),
      ]);
      if (written) completion?.published();
      return written;
    },
  });
  await publishTasks(deps, userId, [id]);
  return viewTask(await findTask(deps, userId, id));
};

/** Returns the changed columns, except for a completion. */
const buildTaskChanges = async (
  { clock, preferencesOf }: TasksDeps,
  row: ListedTask,
  changes: TaskChanges,
): Promise<Partial<TaskRow>> => {
  const { timezone } = await preferencesOf(row.user_id);
  const status = changes.status === 'done' ? row.status : (changes.status ?? row.status);
  const changed = {
    ...(changes.title !== undefined && { title: normalizeTaskTitle(changes.title) }),
    ...(changes.notes !== undefined && { notes: changes.notes || null }),
    ...(changes.priority !== undefined && { priority: changes.priority }),
    ...(changes.tags !== undefined && { tags: JSON.stringify(changes.tags) }),
    ...(changes.parentId !== undefined && { parent_id: changes.parentId }),
    ...(changes.assignee === 'me' && { agent_id: null }),
    ...(changes.reminderMinutes !== undefined && { reminder_minutes: changes.reminderMinutes }),
    ...dueColumns(changes, row, timezone),
    status,
    completed_at: isToDo(status) ? null : row.completed_at,
  };
  return { ...changed, remind_at: reminderAfter(row, { ...row, ...changed }, clock.now()) };
};

/** Keeps a reminder that was already sent from being sent again after an unrelated change. */
const reminderAfter = (before: TaskRow, after: TaskRow, now: number): string | null => {
  const isSame =
    before.due_at === after.due_at &&
    before.reminder_minutes === after.reminder_minutes &&
    isToDo(before.status) === isToDo(after.status);
  return isSame ? before.remind_at : nextReminder(after, now);
};

const textSteps = async (row: TaskRow, change: Partial<TaskRow>): Promise<GuardedStep[]> => {
  const isText = change.title !== undefined || change.notes !== undefined;
  const words = isText ? await searchWords(searchableTaskText({ ...row, ...change })) : null;
  const steps = [
    ...(change.tags === undefined ? [] : replaceTags(row, change.tags)),
    ...(words === null ? [] : replaceWords(row, words)),
  ];
  return steps.map((step) => ({ step }));
};

export const reopenTask = async (
  deps: TasksDeps,
  userId: string,
  id: string,
): Promise<TaskView> => {
  await updateIf({
    clock: deps.clock,
    read: () => findTask(deps, userId, id),
    write: async (row, version) => {
      if (isToDo(row.status)) return true;
      const open = { status: 'open' as const, completed_at: null, updated_at: version };
      const remind_at = nextReminder({ ...row, ...open }, deps.clock.now());
      return commitGuarded(deps.store, [{ step: changeTask(row, { ...open, remind_at }, null) }]);
    },
  });
  await publishTasks(deps, userId, [id]);
  return viewTask(await findTask(deps, userId, id));
};

export const deleteTask = async (
  { store, hub, tasks }: TasksDeps,
  userId: string,
  id: string,
  { cascade }: { cascade: boolean },
): Promise<void> => {
  const select = tasks.selections(userId);
  const deleted = await select.tree(id).execute();
  const steps: GuardedStep[] = [
    {
      step: assertTaskExists(store.db, userId, id),
      fault: () => Boom.notFound('No task with that id'),
    },
    ...(cascade ? [] : [{ step: assertRows(select.parts(id), 0), fault: () => hasParts(id) }]),
    { step: deleteTree(store.db, { id, user_id: userId }) },
  ];
  await commitGuarded(store, steps);
  for (const task of deleted) hub.publish(userId, TASK_CHANGED, { id: task.id, deleted: true });
};

const hasParts = (id: string): Boom.Boom =>
  Boom.conflict(
    `The task has subtasks. To delete them as well, use DELETE /api/tasks/${id}?cascade=true`,
    {
      code: 'task_has_parts',
    },
  );
