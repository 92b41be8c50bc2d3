import type { TaskView } from '../../../src/client/index.js';
import type { Acts } from '../../page.js';
import { type Act, confirmedBy, done, onRow } from '../../state/act.js';
import { offered } from '../list.js';

/** Draft id of a task that is not created yet. */
const DRAFT = 'task';

export const isTaskOver = ({ status }: TaskView): boolean =>
  status === 'done' || status === 'archived';

/** Creates a task from one line, without a question. */
export const noteTask = (): Act => ({
  ...onRow('tasks', DRAFT),
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
  return offered({
    mark: !isTaskOver(task) && {
      ...onRow('tasks', id, 'parts'),
      text: `Complete task ${title}`,
      line: `adjutant tasks complete ${id}`,
      doing: 'completing…',
      call: ({ tasks }) => done(tasks.complete({ id }), `Completed: ${title}`),
    },
    start: isTaskOver(task) && {
      ...onRow('tasks', id, 'parts'),
      text: `Reopen task ${title}`,
      line: `adjutant tasks reopen ${id}`,
      doing: 'reopening…',
      call: ({ tasks }) => done(tasks.reopen({ id }), `Reopened: ${title}`),
    },
    message: !isTaskOver(task) && {
      ...onRow('tasks', id, 'agents'),
      text: `Delegate task ${title}`,
      line: `adjutant tasks delegate ${id}`,
      doing: 'delegating…',
      ask: { lines: [`Delegate ${title} to an agent?`] },
      call: ({ tasks }) => done(tasks.delegate({ id, body: {} }), 'Delegated to an agent'),
    },
    delete: {
      ...onRow('tasks', id, 'parts'),
      text: `Delete task ${title}`,
      line: `adjutant tasks delete ${id}`,
      doing: 'deleting…',
      ask: {
        lines: [`Delete ${title}? There is no undo.`],
        name: confirmedBy(title, id),
      },
      call: ({ tasks }) => done(tasks.delete({ id }), `${title} is deleted`),
    },
  });
};
