import { type PagePlace, pageLink } from '../../src/kernel/pagepath.js';
import type { RecurringRun, RecurringTask } from '../../src/recurring/contract.js';
import { Button, useAction } from '../parts/action.js';
import { Confirm } from '../parts/confirm.js';
import { Heading } from '../parts/heading.js';
import { LongText, Values, visibleText } from '../parts/json.js';
import { Cards, type PagedList, usePaged } from '../parts/more.js';
import { Empty, Fact, Failure, State } from '../parts/notes.js';
import { getRecurringState, NextRun, ruleText } from '../parts/recurrence.js';
import { Show } from '../parts/show.js';
import { Ago, Moment } from '../parts/time.js';
import { ask } from '../state/api.js';
import { type Loaded, useLoad } from '../state/load.js';

/** Action, next due time, and last runs with links to what they started. */
export const RecurringTaskPage = ({ id }: { id: string }) => {
  const concerns = (event: unknown): boolean => Object(event).recurringTaskId === id;
  const task = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/recurring-tasks/{id}', { id }, signal),
    topics: ['recurring.run'],
    concerns,
  });
  const runs = usePaged({
    key: id,
    load: async (query, signal) => {
      const reply = await ask('GET', '/api/recurring-tasks/{id}/runs', { id, query }, signal);
      return { rows: reply.runs, nextCursor: reply.nextCursor };
    },
    topics: ['recurring.run'],
    concerns,
  });
  return (
    <>
      <Heading title="Recurring task" />
      <Show of={task} what="the recurring task" listed="recurringTasks">
        {(data) => (
          <>
            <RecurringFacts task={data} />
            <RecurringActions task={data} loaded={task} runs={runs} />
            <h2>Action</h2>
            <p>{data.action.replaceAll('_', ' ')}</p>
            <Values of={data.actionConfig} />
            <h2>Runs</h2>
            <Cards of={runs} what="runs" empty={<Empty>No runs yet.</Empty>}>
              {(run) => <RecurringRunCard run={run} />}
            </Cards>
          </>
        )}
      </Show>
    </>
  );
};

const RecurringFacts = ({ task }: { task: RecurringTask }) => (
  <>
    <p>
      <strong>{visibleText(task.title)}</strong>
    </p>
    <p class="line" role="status">
      <State of={getRecurringState(task)} />
    </p>
    {task.lastStatus === 'error' && task.lastError !== null && <LongText text={task.lastError} />}
    <dl class="facts">
      <Fact name="Schedule">
        {ruleText(task)} ({visibleText(task.schedule.timezone)})
      </Fact>
      <Fact name="Next">
        <NextRun task={task} />
      </Fact>
      <Fact name="Last">{task.lastRunAt === null ? 'never' : <Moment at={task.lastRunAt} />}</Fact>
      <Fact name="Scheduled runs">
        {task.runCount}
        {task.maxRuns !== null && ` of ${task.maxRuns}`}
      </Fact>
      {task.endsAt !== null && (
        <Fact name="Ends">
          <Moment at={task.endsAt} />
        </Fact>
      )}
      <Fact name="Missed">{task.missed}</Fact>
      <Fact name="Overlap">{task.overlap}</Fact>
    </dl>
  </>
);

const RecurringActions = ({
  task,
  loaded,
  runs,
}: {
  task: RecurringTask;
  loaded: Loaded<RecurringTask>;
  runs: PagedList<RecurringRun>;
}) => {
  const action = useAction();
  const { id, enabled } = task;
  const change = async (): Promise<void> => {
    const body = { enabled: !enabled };
    loaded.replace(await ask('PATCH', '/api/recurring-tasks/{id}', { id, body }));
  };
  const runNow = async (): Promise<void> => {
    await ask('POST', '/api/recurring-tasks/{id}/run', { id });
    await Promise.all([loaded.reload(), runs.reload()]);
  };
  return (
    <section aria-label="Actions">
      {action.error && <Failure error={action.error} />}
      <div class="buttons">
        <Button action={action} work={change}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      </div>
      <Confirm
        action={action}
        work={runNow}
        question={<>Run {visibleText(task.title)} now? Its schedule does not change.</>}
        label="Run it"
      >
        Run now
      </Confirm>
    </section>
  );
};

const RecurringRunCard = ({ run }: { run: RecurringRun }) => (
  <>
    <p class="line">
      <State of={run.status} />
      <span>{run.dueAt === null ? 'manual' : <Moment at={run.dueAt} />}</span>
      {run.finishedAt !== null && (
        <span class="at">
          <Ago at={run.finishedAt} />
        </span>
      )}
    </p>
    <StartedObject run={run} />
    {run.reason !== null && <p class="muted">{visibleText(run.reason)}</p>}
    {run.error !== null && <LongText text={run.error} />}
  </>
);

/** Link to what the run started, if anything. */
const StartedObject = ({ run }: { run: RecurringRun }) => {
  const things: [PagePlace, string, string | null][] = [
    ['run', 'The pipeline run', run.pipelineId],
    ['agent', 'The agent and its transcript', run.agentId],
    ['task', 'The task', run.taskId],
    ['execution', 'The hook execution', run.executionId],
    ['notifications', 'The notification', run.notificationId],
  ];
  const begun = things.find(([, , id]) => id !== null);
  if (!begun) return null;
  const [place, words, id] = begun;
  return (
    <p>
      <a href={pageLink(place, id ?? '')}>{words}</a>
    </p>
  );
};
