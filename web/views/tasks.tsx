import { useState } from 'preact/hooks';
import { pageLink } from '../../src/kernel/pagepath.js';
import type { TaskView } from '../../src/tasks/contract.js';
import { useAction } from '../parts/action.js';
import { TaskDue } from '../parts/due.js';
import { Choice } from '../parts/filter.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty, Failure, State, UntrustedMark } from '../parts/notes.js';
import { ask } from '../state/api.js';

const DUES = ['overdue', 'today', 'week', 'all'] as const;
type ShownTasks = (typeof DUES)[number];

/** Tasks that can be done now, or by due date. */
export const Tasks = ({ query }: { query: URLSearchParams }) => {
  const [due, setDue] = useState(DUES.find((one) => one === query.get('due')));
  const list = usePaged({
    key: due ?? '',
    load: async (page, signal) => {
      const filter = { ...page, ...buildTaskFilter(due) };
      const reply = await ask('GET', '/api/tasks', { query: filter }, signal);
      return { rows: reply.tasks, nextCursor: reply.nextCursor };
    },
    topics: ['task.changed'],
  });
  return (
    <>
      <Heading title="Tasks" />
      <NewTaskForm reload={list.reload} />
      <Choice
        name="due"
        label="Show"
        unless="to do now"
        of={DUES}
        chosen={due}
        choose={(one) => setDue(one)}
      />
      <Cards of={list} what="tasks" empty={<Empty>No tasks here.</Empty>}>
        {(task) => <TaskCard task={task} />}
      </Cards>
    </>
  );
};

const buildTaskFilter = (due: ShownTasks | undefined) => {
  if (due === undefined) return { view: 'next' as const };
  return due === 'all' ? {} : { due };
};

const NewTaskForm = ({ reload }: { reload(): Promise<void> }) => {
  const action = useAction();
  const [title, setTitle] = useState('');
  const createTask = async (): Promise<void> => {
    await ask('POST', '/api/tasks', { body: { title: title.trim() } });
    setTitle('');
    await reload();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (title.trim() !== '') void action.run(createTask);
      }}
    >
      <label>
        New task
        <input
          value={title}
          maxLength={500}
          required
          onInput={({ currentTarget }) => setTitle(currentTarget.value)}
        />
      </label>
      <button type="submit" aria-disabled={action.isBusy}>
        Create task
      </button>
      {action.error && <Failure error={action.error} />}
    </form>
  );
};

const TaskCard = ({ task }: { task: TaskView }) => (
  <>
    <p class="line">
      <State of={task.status} />
      {task.untrusted && <UntrustedMark />}
      <span class="at">
        <TaskDue task={task} />
      </span>
    </p>
    <p>
      <a href={pageLink('task', task.id)}>
        <strong>{visibleText(task.title)}</strong>
      </a>
    </p>
    {task.tags.length > 0 && <p class="muted">{visibleText(task.tags.join(', '))}</p>}
  </>
);
