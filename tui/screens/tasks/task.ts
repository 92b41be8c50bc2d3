import type { TaskView } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { row, tonedSpan } from '../../parts/row.js';
import { factRows, jsonRows, textRows } from '../../parts/text.js';
import { listRows } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { detailPage } from '../detail.js';
import { isTaskOver, taskActs } from './acts.js';
import { parentNeeds, taskAgentTarget, taskFacts, taskHead } from './tasks.js';

const EVERY_MS = 30_000;

const shownTask = ({ ui, lists }: State): TaskView | null =>
  lists.tasks.byId[topView(ui).id ?? ''] ?? null;

export const taskPage: ScreenPage = {
  ...detailPage<TaskView>({
    name: 'task',
    title: 'Task',
    noun: 'task',
    tabs: [],
    list: 'tasks',
    shown: shownTask,
    head: (state, task) => [
      taskHead(state, task),
      row(tonedSpan('muted', `from ${task.source.kind}`)),
    ],
    text: (state, task, width) => {
      const { isRaw, isWrapped } = topView(state.ui);
      if (isRaw) return jsonRows(task, width, isWrapped);
      const parts = listRows(state.lists.parts).map((part): [string, string] => [
        isTaskOver(part) ? 'Subtask, done' : 'Subtask',
        part.title,
      ]);
      return [
        ...factRows([...taskFacts(state, task), ...parts], width),
        ...(task.notes === null ? [] : [[], ...textRows(task.notes, width, true)]),
      ];
    },
  }),
  acts: (state) => {
    const task = shownTask(state);
    return task ? taskActs(task) : {};
  },
  related: (state) => {
    const task = shownTask(state);
    return task ? taskAgentTarget(task) : null;
  },
  leaves: (state) => {
    const task = shownTask(state);
    return task ? { edit: ['tasks', 'update', task.id, '--edit'] } : {};
  },
  line: ({ ui }) => `adjutant tasks get ${topView(ui).id}`,
  needs: (state) => [
    // A task opened from elsewhere may be in no loaded list.
    ...(shownTask(state)
      ? []
      : [{ is: 'list' as const, list: 'tasks' as const, of: topView(state.ui).id }]),
    { is: 'list', list: 'parts', of: topView(state.ui).id, everyMs: EVERY_MS },
    { is: 'channel', channel: 'task.changed' },
    ...parentNeeds(state, shownTask(state)),
  ],
};
