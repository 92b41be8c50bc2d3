import { type TaskRow, taskTable } from '../store/tables/tasks.js';
import { viewer } from '../store/view.js';
import { Task } from './contract.js';
import type { ListedTask } from './selections.js';

/** The assignee of a task that is its owner's own. */
export const ME = 'me';

/** Returns who has a task: its owner, or the agent that it was delegated to. */
export const assigneeOf = ({ agent_id }: Pick<TaskRow, 'agent_id'>): string => agent_id ?? ME;

/** Returns a task as the API shows it. */
export const viewTask = viewer(taskTable, Task, {
  blockedBy: ({ blocked_by }: ListedTask): string[] => JSON.parse(blocked_by),
  assignee: assigneeOf,
  source: ({ source_kind: kind, source_id: id }: ListedTask) => ({ kind, id }),
});
