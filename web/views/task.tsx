import { pageLink } from '../../src/kernel/pagepath.js';
import type { TaskView } from '../../src/tasks/contract.js';
import { type Action, Button, useAction } from '../parts/action.js';
import { Confirm } from '../parts/confirm.js';
import { TaskDue } from '../parts/due.js';
import { Heading } from '../parts/heading.js';
import { LongText, visibleText } from '../parts/json.js';
import { Fact, Failure, State, UntrustedMark } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { Ago } from '../parts/time.js';
import { ask, RequestError } from '../state/api.js';
import { type Loaded, useLoad } from '../state/load.js';

interface TaskWithOthers {
  task: TaskView;
  /** Parent and blocking tasks. Deleted ones are left out. */
  others: TaskView[];
  parts: TaskView[];
}

/** One task: notes, blockers and subtasks. */
export const TaskPage = ({ id }: { id: string }) => {
  const task = useLoad({
    key: id,
    load: (signal) => readTask(id, signal),
    topics: ['task.changed'],
  });
  return (
    <>
      <Heading title="Task" />
      <Show of={task} what="the task" listed="tasks">
        {(data) => (
          <>
            <TaskFacts of={data} />
            {data.task.notes !== null && <LongText text={data.task.notes} />}
            <TaskActions task={data.task} reload={task.reload} />
            <TaskParts parts={data.parts} />
          </>
        )}
      </Show>
    </>
  );
};

/** Maximum tasks whose titles are loaded. */
const MAX_OTHERS = 20;

const readTask = async (id: string, signal: AbortSignal): Promise<TaskWithOthers> => {
  const task = await ask('GET', '/api/tasks/{id}', { id }, signal);
  const ids = [...(task.parentId === null ? [] : [task.parentId]), ...task.blockedBy];
  const [{ tasks: parts }, ...others] = await Promise.all([
    ask('GET', '/api/tasks', { query: { parentId: id, limit: 200 } }, signal),
    ...ids.slice(0, MAX_OTHERS).map((other) => findTask(other, signal)),
  ]);
  return { task, parts, others: others.filter((other) => other !== null) };
};

const findTask = async (id: string, signal: AbortSignal): Promise<TaskView | null> => {
  try {
    return await ask('GET', '/api/tasks/{id}', { id }, signal);
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return null;
    throw error;
  }
};

const URGENCIES = ['', 'low', 'high', 'urgent'];

const TaskFacts = ({ of: { task, others } }: { of: TaskWithOthers }) => (
  <>
    <p>
      <strong>{visibleText(task.title)}</strong>
    </p>
    <p class="line" role="status">
      <State of={task.status} />
      {task.untrusted && <UntrustedMark />}
    </p>
    <dl class="facts">
      <Fact name="Due">
        <TaskDue task={task} />
      </Fact>
      {task.priority > 0 && <Fact name="Priority">{URGENCIES[task.priority]}</Fact>}
      {task.tags.length > 0 && <Fact name="Tags">{visibleText(task.tags.join(', '))}</Fact>}
      {others.map((other) => (
        <OtherTask key={other.id} task={other} isParent={other.id === task.parentId} />
      ))}
      {task.assignee !== 'me' && (
        <Fact name="Assigned to">
          <a href={pageLink('agent', task.assignee)}>The agent and its transcript</a>
        </Fact>
      )}
      <Fact name="From">
        {task.source.kind}, <Ago at={task.createdAt} />
      </Fact>
    </dl>
  </>
);

const OtherTask = ({ task, isParent }: { task: TaskView; isParent: boolean }) => (
  <Fact name={isParent ? 'Part of' : 'Blocked by'}>
    <a href={pageLink('task', task.id)}>{visibleText(task.title)}</a> <State of={task.status} />
  </Fact>
);

const isTaskEnded = ({ status }: TaskView): boolean => status === 'done' || status === 'archived';

const TaskActions = ({ task, reload }: { task: TaskView; reload: Loaded<TaskView>['reload'] }) => {
  const action = useAction();
  const { id } = task;
  const act = (work: () => Promise<unknown>) => async (): Promise<void> => {
    await work();
    await reload();
    document.querySelector('h1')?.focus();
  };
  const delegate = act(() => ask('POST', '/api/tasks/{id}/delegate', { id, body: {} }));
  return (
    <section aria-label="Actions">
      {action.error && <Failure error={action.error} />}
      {isTaskEnded(task) ? (
        <div class="buttons">
          <Button action={action} work={act(() => ask('POST', '/api/tasks/{id}/reopen', { id }))}>
            Reopen
          </Button>
        </div>
      ) : (
        <>
          <Complete id={id} action={action} act={act} />
          <Confirm
            action={action}
            work={delegate}
            question={<>Delegate {visibleText(task.title)} to an agent?</>}
            label="Delegate it"
          >
            Delegate
          </Confirm>
        </>
      )}
    </section>
  );
};

/** If subtasks are open, asks before completing them too. */
const Complete = ({
  id,
  action,
  act,
}: {
  id: string;
  action: Action;
  act(work: () => Promise<unknown>): () => Promise<void>;
}) => {
  const complete = (cascade: boolean) =>
    act(() => ask('POST', '/api/tasks/{id}/complete', { id, query: cascade ? { cascade } : {} }));
  return (
    <div class="buttons">
      <Button action={action} kind="main" work={complete(false)}>
        Complete
      </Button>
      {action.error?.code === 'task_has_parts' && (
        <Button action={action} work={complete(true)}>
          Complete with its subtasks
        </Button>
      )}
    </div>
  );
};

const TaskParts = ({ parts }: { parts: TaskView[] }) =>
  parts.length === 0 ? null : (
    <>
      <h2>Subtasks</h2>
      <ul class="cards">
        {parts.map((part) => (
          <li key={part.id} class="card">
            <p class="line">
              <State of={part.status} />
              <a href={pageLink('task', part.id)}>{visibleText(part.title)}</a>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
