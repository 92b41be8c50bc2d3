import type { Hook } from '../../src/hooks/contract.js';
import type { Execution } from '../../src/hooks/executions/contract.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { durationText } from '../../tui/parts/times.js';
import { useAction } from '../parts/action.js';
import { Confirm } from '../parts/confirm.js';
import { Heading } from '../parts/heading.js';
import { LongText, Value, Values, visibleText } from '../parts/json.js';
import { Fact, Failure, State } from '../parts/notes.js';
import { usePendingCalls } from '../parts/pendingcalls.js';
import { Show } from '../parts/show.js';
import { Ago, Moment } from '../parts/time.js';
import { ask, RequestError } from '../state/api.js';
import { useLoad } from '../state/load.js';
import { goToPlace } from '../state/route.js';

interface ExecutionWithHook {
  run: Execution;
  hook: Hook;
}

export const ExecutionView = ({ id }: { id: string }) => {
  const execution = useLoad({
    key: id,
    load: async (signal): Promise<ExecutionWithHook> => {
      const run = await ask('GET', '/api/hooks/executions/{id}', { id }, signal);
      return { run, hook: await ask('GET', '/api/hooks/{id}', { id: run.hookId }, signal) };
    },
    topics: ['hook.execution'],
    concerns: (event) => Object(event).id === id,
  });
  return (
    <>
      <Heading title="Execution" />
      <Show of={execution} what="the execution" listed="executions">
        {({ run, hook }) => (
          <>
            <Facts run={run} hook={hook} />
            {run.agentId !== null && <WaitingCalls agentId={run.agentId} />}
            <Outcome run={run} />
            <Replay run={run} hook={hook} />
            <h2>Trigger</h2>
            <Trigger run={run} />
            <h2>Conditions</h2>
            <Conditions hook={hook} />
          </>
        )}
      </Show>
    </>
  );
};

const Facts = ({ run, hook }: ExecutionWithHook) => (
  <>
    <p class="line" role="status">
      <State of={run.status} />
      {run.attempts > 1 && <span>attempt {run.attempts}</span>}
      <span class="at">
        <Ago at={run.createdAt} />
      </span>
    </p>
    <dl class="facts">
      <Fact name="Hook">
        <a href={`${pageLink('executions')}?${new URLSearchParams({ hookId: hook.id })}`}>
          <strong>{visibleText(hook.name)}</strong>
        </a>
        {!hook.enabled && ' (disabled)'}
      </Fact>
      <Fact name="Event">{visibleText(run.triggerContext.event ?? run.trigger)}</Fact>
      <Fact name="Action">{run.action.replaceAll('_', ' ')}</Fact>
      <Fact name="Received">
        <Moment at={run.triggerContext.receivedAt} />
      </Fact>
      <Time word="Started" at={run.startedAt} />
      <Time word="Ended" at={run.finishedAt} />
      {run.durationMs !== null && <Fact name="Duration">{durationText(run.durationMs)}</Fact>}
      {run.agentId !== null && (
        <Fact name="Agent">
          <a href={pageLink('agent', run.agentId)}>The agent and its transcript</a>
        </Fact>
      )}
      {run.replayOf !== null && (
        <Fact name="Replay of">
          <a href={pageLink('execution', run.replayOf)}>The original execution</a>
        </Fact>
      )}
    </dl>
  </>
);

/** Links to the pending calls of the agent. */
const WaitingCalls = ({ agentId }: { agentId: string }) => {
  const calls = usePendingCalls([agentId]);
  if (!calls.data || calls.data.length === 0) return null;
  return (
    <ul class="note warn" aria-label="Waiting for you">
      {calls.data.map((call) => (
        <li key={call.id}>
          The agent waits for your decision:{' '}
          <a class="tap" href={pageLink('approval', call.id)}>
            {visibleText(call.tool)}: {visibleText(call.action)}
          </a>
        </li>
      ))}
    </ul>
  );
};

const Time = ({ word, at }: { word: string; at: string | null }) =>
  at === null ? null : (
    <Fact name={word}>
      <Moment at={at} />
    </Fact>
  );

const Outcome = ({ run }: { run: Execution }) => (
  <>
    {run.error !== null && (
      <>
        <h2>{run.status === 'skipped' ? 'Reason for skipping' : 'Error'}</h2>
        <LongText text={run.error} />
      </>
    )}
    {run.result !== null && (
      <>
        <h2>Result</h2>
        <Value of={run.result} />
      </>
    )}
  </>
);

const Trigger = ({ run }: { run: Execution }) => {
  const { webhook, agent, approval, email, scheduledAt } = run.triggerContext;
  if (!webhook) {
    const given = agent ?? approval ?? email ?? (scheduledAt ? { scheduledAt } : {});
    return <Values of={given} />;
  }
  return (
    <>
      <p>
        {webhook.method} request to <code>{visibleText(webhook.path)}</code>
      </p>
      <h3>Payload</h3>
      <Value of={webhook.body} />
      <details>
        <summary>Headers</summary>
        <Values of={webhook.headers} />
      </details>
      {webhook.query && (
        <details>
          <summary>Query parameters</summary>
          <Values of={webhook.query} />
        </details>
      )}
    </>
  );
};

const Conditions = ({ hook }: { hook: Hook }) => {
  if (hook.conditions.length === 0) return <p>No conditions. Every delivery runs.</p>;
  return (
    <ul aria-label="Current conditions of the hook">
      {hook.conditions.map(({ field, operator, value }) => (
        <li key={`${field} ${operator} ${JSON.stringify(value)}`}>
          <code>{visibleText(field)}</code> {operator.replaceAll('_', ' ')}{' '}
          {value !== undefined && <code>{visibleText(JSON.stringify(value))}</code>}
        </li>
      ))}
    </ul>
  );
};

const OPEN = ['queued', 'running'];

/**
 * The daemon refuses a replay whose action may already have taken effect. The page then asks again.
 */
const Replay = ({ run, hook }: ExecutionWithHook) => {
  const action = useAction();
  if (OPEN.includes(run.status)) return null;
  const mayBeDone = action.error?.code === 'effect_done';
  const replay = async (): Promise<void> => {
    const at = { id: run.hookId, executionId: run.id };
    const path = '/api/hooks/{id}/executions/{executionId}/replay';
    const again = await ask('POST', path, { ...at, body: mayBeDone ? { force: true } : {} });
    goToPlace('execution', again.id);
  };
  return (
    <section aria-label="Replay">
      {action.error && <Failure error={asConfirmableError(action.error)} />}
      <Confirm
        key={String(mayBeDone)}
        action={action}
        work={replay}
        kind={mayBeDone ? 'danger' : ''}
        question={
          mayBeDone
            ? `Run it again, although the action may take effect twice: ${describeAction(hook)}?`
            : `Run it again with its original payload: ${describeAction(hook)}?`
        }
        label={mayBeDone ? 'Run it again anyway' : 'Run it again'}
      >
        {mayBeDone ? 'Replay anyway' : 'Replay'}
      </Confirm>
    </section>
  );
};

/** The action of a hook, and its target. */
const describeAction = ({ action, actionConfig }: Hook): string => {
  const { webhookUrl, toolId, toolAction } = actionConfig;
  const tool = toolId && (toolAction ? `${toolId}: ${toolAction}` : toolId);
  const target = webhookUrl ?? tool ?? '';
  return visibleText(`${action.replaceAll('_', ' ')}${target === '' ? '' : `, ${target}`}`);
};

const asConfirmableError = (error: RequestError): RequestError =>
  error.code === 'effect_done'
    ? new RequestError(
        'The execution called a URL or a tool, and the call may have succeeded.',
        error.status,
        error.code,
      )
    : error;
