import type { TaskView } from '../../../src/client/index.js';
import type { Acts } from '../../page.js';
import { type Act, actTarget, confirmationText, reportDone } from '../../state/act.js';
import { possibleActs } from '../list.js';

/** Draft id of a task that is not created yet. */
const DRAFT = 'task';

export const isTaskOver = ({ status }: TaskView): boolean =>
  status === 'done' || status === 'archived';

/** Creates a task from one line, without a question. */
export const createTaskAct = (): Act => ({
  ...actTarget('tasks', DRAFT),
  isFree: true,
  text: 'Create a task',
  line: 'adjutant tasks create …',
  doing: 'creating…',
  ask: { lines: ['Title of the task'], writes: true },
  call: async ({ tasks }, text) => {
    const [first = '', ...more] = text.trim().split('\n');
    const notes = more.join('\n').trim();
    const body = { title: first, ...(notes !== '' && { notes }) };
    const { title } = await tasks.create({ body });
    return `Created: ${title}`;
  },
});

export const taskActs = (task: TaskView): Acts => {
  const { id, title } = task;
  return possibleActs({
    mark: !isTaskOver(task) && {
      ...actTarget('tasks', id, 'parts'),
      text: `Complete task ${title}`,
      line: `adjutant tasks complete ${id}`,
      doing: 'completing…',
      call: ({ tasks }) => reportDone(tasks.complete({ id }), `Completed: ${title}`),
    },
    start: isTaskOver(task) && {
      ...actTarget('tasks', id, 'parts'),
      text: `Reopen task ${title}`,
      line: `adjutant tasks reopen ${id}`,
      doing: 'reopening…',
      call: ({ tasks }) => reportDone(tasks.reopen({ id }), `Reopened: ${title}`),
    },
    message: !isTaskOver(task) && {
      ...actTarget('tasks', id, 'agents'),
      text: `Delegate task ${title}`,
      line: `adjutant tasks delegate ${id}`,
      doing: 'delegating…',
      ask: { lines: [`Delegate ${title} to an agent?`] },
      call: ({ tasks }) => reportDone(tasks.delegate({ id, body: {} }), 'Delegated to an agent'),
    },
    delete: {
      ...actTarget('tasks', id, 'parts'),
      text: `Delete task ${title}`,
      line: `adjutant tasks delete ${id}`,
      doing: 'deleting…',
      ask: {
        lines: [`Delete ${title}? There is no undo.`],
        name: confirmationText(title, id),
      },
      call: ({ tasks }) => reportDone(tasks.delete({ id }), `${title} is deleted`),
    },
  });
};
