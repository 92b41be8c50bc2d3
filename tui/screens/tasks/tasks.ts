import type { TaskView } from '../../../src/client/index.js';
import type { PageNeed, ScreenPage } from '../../page.js';
import { orgFacts } from '../../parts/orgs.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { column, stateColumn, uncutColumn } from '../../parts/table.js';
import { countedNoun, factRows, textRows } from '../../parts/text.js';
import { dayTime, isLocalClock, shortZone, zonedDay } from '../../parts/zones.js';
import { listRows } from '../../state/lists.js';
import { agentTarget, type JumpTarget } from '../../state/locations.js';
import { TASK_VIEWS } from '../../state/rows.js';
import { selectedItem } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { tabsRow } from '../detail.js';
import { listPage } from '../list.js';
import { createTaskAct, isTaskOver, taskActs } from './acts.js';

/** The socket reports changes. This interval is for tasks that become due. */
const EVERY_MS = 30_000;
const TABS = ['Now', 'Today', 'Overdue', 'All'];
const URGENCY = ['', 'low', 'high', 'urgent'];

const getTaskView = ({ ui }: State): string => TASK_VIEWS[topView(ui).tab] ?? TASK_VIEWS[0];

const formatTaskStatus = ({ lists }: State, { id, status }: TaskView): string =>
  lists.tasks.busy[id] ?? status.replace('_', ' ');

/**
 * Due time on the clock of its time zone, which is named if the local clock differs. Empty without
 * a due date.
 */
const formatDue = ({ session: { now } }: State, { due, dueAt, timezone }: TaskView): string => {
  if (due !== null) return zonedDay(due, timezone, now);
  if (dueAt === null) return '';
  const text = dayTime(dueAt, timezone, now);
  const at = Date.parse(dueAt);
  return isLocalClock(timezone, at) ? text : `${text} ${shortZone(timezone, at)}`;
};

/** The same with the full name of the time zone. */
const formatFullDue = (state: State, task: TaskView): string => {
  const { dueAt, timezone } = task;
  const at = dueAt === null ? state.session.now : Date.parse(dueAt);
  const text = formatDue(state, task);
  return text === '' || isLocalClock(timezone, at) ? text : `${text} (${timezone})`;
};

const findTaskTitle = ({ lists: { tasks, parents } }: State, id: string): string | undefined =>
  tasks.byId[id]?.title ?? parents.byId[id]?.title;

/** Need for the parent task, unless it is listed. */
export const parentNeeds = ({ lists }: State, task: TaskView | null | undefined): PageNeed[] => {
  const of = task?.parentId ?? null;
  return of === null || lists.tasks.byId[of] ? [] : [{ is: 'list', list: 'parents', of }];
};

export const taskFacts = (state: State, task: TaskView): [string, string][] => {
  const { priority, tags, blockedBy, parentId, assignee, untrusted } = task;
  const due = formatFullDue(state, task);
  const facts: [string, string][] = orgFacts(state, task);
  if (due !== '') facts.push(['Due', due]);
  if (priority > 0) facts.push(['Priority', URGENCY[priority] ?? String(priority)]);
  if (tags.length > 0) facts.push(['Tags', tags.join(', ')]);
  const parent = parentId === null ? undefined : findTaskTitle(state, parentId);
  if (parent !== undefined) facts.push(['Part of', parent]);
  for (const id of blockedBy) facts.push(['Blocked by', findTaskTitle(state, id) ?? id]);
  if (assignee !== 'me') facts.push(['Assigned to', assignee]);
  if (untrusted)
    facts.push(['Trust', 'untrusted: an agent wrote the task after reading external text']);
  return facts;
};

export const taskHead = (state: State, task: TaskView): ScreenRow =>
  row(tonedSpan('strong', task.title), '   ', formatTaskStatus(state, task));

const detailRows = (state: State, task: TaskView, width: number): ScreenRow[] => [
  taskHead(state, task),
  [],
  ...factRows(taskFacts(state, task), width),
  ...(task.notes === null ? [] : [[], ...textRows(task.notes, width, true)]),
];

export const taskAgentTarget = ({ assignee }: TaskView): JumpTarget | null =>
  assignee === 'me' ? null : agentTarget(assignee);

const listed: ScreenPage = listPage<TaskView>({
  name: 'tasks',
  title: 'Tasks',
  noun: 'task',
  list: 'tasks',
  rows: ({ lists }) => listRows(lists.tasks),
  item: ({ id, title, status, notes, tags }) => ({
    id,
    name: title,
    words: `${status} ${tags.join(' ')} ${(notes ?? '').slice(0, 1000)}`,
    facts: { status },
  }),
  columns: (state) => [
    stateColumn('STATE', [5, 11, 0], (task) => formatTaskStatus(state, task)),
    uncutColumn(column('DUE', [5, 28, 1], (task) => formatDue(state, task))),
    column('TITLE', [14, 120, 0], ({ title }) => title),
    column('PRIORITY', [6, 8, 2], ({ priority }) => URGENCY[priority] ?? ''),
    column('TAGS', [6, 24, 3], ({ tags }) => tags.join(' ')),
  ],
  detail: detailRows,
  empty: ['No tasks here.', '  a  create a task      adjutant tasks create'],
  opens: ({ id }) => ({ page: 'task', id }),
  related: taskAgentTarget,
  acts: taskActs,
  leaves: (task) => ({ edit: task && ['tasks', 'update', task.id, '--edit'] }),
  summary: (_, rows) =>
    `${countedNoun(rows.length, 'task')}, ${rows.filter((task) => !isTaskOver(task)).length} to do`,
});

const needs = (state: State): PageNeed[] => [
  { is: 'list', list: 'tasks', of: getTaskView(state), everyMs: EVERY_MS },
  { is: 'channel', channel: 'task.changed' },
  ...parentNeeds(state, state.lists.tasks.byId[selectedItem(listed, state)?.id ?? '']),
];

export const tasksPage: ScreenPage = {
  ...listed,
  tabs: TABS,
  needs,
  acts: (state) => ({ add: createTaskAct(), ...listed.acts?.(state) }),
  head: ({ ui }) => [tabsRow(TABS, topView(ui).tab)],
  view: (state, size: Size) => {
    const rows = listed.view(state, { ...size, height: Math.max(0, size.height - 2) });
    return [tabsRow(TABS, topView(state.ui).tab), [], ...rows];
  },
  line: (state) => {
    const chosen = selectedItem(listed, state);
    return `adjutant tasks ${chosen ? `get ${chosen.id}` : 'list'}`;
  },
};
