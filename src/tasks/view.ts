import { type TaskRow, taskTable } from '../store/tables/tasks.js';
import { viewer } from '../store/view.js';
import { Task } from './contract.js';
import type { ListedTask } from './selections.js';

export const ME = 'me';

export const getAssignee = ({ agent_id }: Pick<TaskRow, 'agent_id'>): string => agent_id ?? ME;

export const viewTask = viewer(taskTable, Task, {
  blockedBy: ({ blocked_by }: ListedTask): string[] => JSON.parse(blocked_by),
  assignee: getAssignee,
  source: ({ source_kind: kind, source_id: id }: ListedTask) => ({ kind, id }),
});
