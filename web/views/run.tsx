import { pageLink } from '../../src/kernel/pagepath.js';
import type { PipelineRunDetail } from '../../src/pipelines/runs/contract.js';
import { type Action, useAction } from '../parts/action.js';
import { Confirm } from '../parts/confirm.js';
import { Heading } from '../parts/heading.js';
import { LongText, Values, visibleText } from '../parts/json.js';
import { Fact, Failure, State, UntrustedMark } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { RunStageCard } from '../parts/stage.js';
import { Ago, Moment } from '../parts/time.js';
import { ask } from '../state/api.js';
import { type Loaded, useLoad } from '../state/load.js';

/** Stages of a run in order, with their requests and decisions. */
export const RunPage = ({ id }: { id: string }) => {
  const run = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/pipelines/{id}', { id }, signal),
    topics: ['pipeline.stage'],
    concerns: (event) => Object(event).runId === id,
  });
  return (
    <>
      <Heading title="Run" />
      <Show of={run} what="the run" listed="pipelines">
        {(data) => (
          <>
            <RunFacts run={data} />
            <h2>Stages</h2>
            <ol class="cards stages">
              {data.stages.map((stage) => (
                <RunStageCard key={stage.key} run={data} stage={stage} loaded={run} />
              ))}
            </ol>
            <RunActions run={data} loaded={run} />
          </>
        )}
      </Show>
    </>
  );
};

const RunFacts = ({ run }: { run: PipelineRunDetail }) => (
  <>
    <p>
      <strong>{visibleText(run.name)}</strong>
    </p>
    <p class="line" role="status">
      <State of={run.status} />
      {run.untrusted && <UntrustedMark />}
      <span class="at">
        <Ago at={run.createdAt} />
      </span>
    </p>
    {run.error !== null && <LongText text={run.error} />}
    <dl class="facts">
      <Fact name="Cost">
        {run.usage.costUsd.toFixed(2)} USD, {run.usage.tokens.toLocaleString('en-US')} tokens
      </Fact>
      {run.finishedAt !== null && (
        <Fact name="Ended">
          <Moment at={run.finishedAt} />
        </Fact>
      )}
      {run.parentId !== null && (
        <Fact name="Part of">
          <a href={pageLink('run', run.parentId)}>
            The stage {visibleText(run.parentKey ?? '')} of another run
          </a>
        </Fact>
      )}
    </dl>
    {Object.keys(run.params).length > 0 && (
      <details>
        <summary>Parameters</summary>
        <Values of={run.params} />
      </details>
    )}
  </>
);

interface RunActionsProps {
  run: PipelineRunDetail;
  loaded: Loaded<PipelineRunDetail>;
}

const RunActions = ({ run, loaded }: RunActionsProps) => {
  const action = useAction();
  const change = (work: () => Promise<PipelineRunDetail>) => async (): Promise<void> => {
    loaded.replace(await work());
    document.querySelector('h1')?.focus();
  };
  return (
    <section aria-label="The run">
      {action.error && <Failure error={action.error} />}
      {run.finishedAt === null ? (
        <StopRun run={run} action={action} change={change} />
      ) : (
        <RetryRun run={run} action={action} change={change} />
      )}
    </section>
  );
};

interface RunActionProps {
  run: PipelineRunDetail;
  action: Action;
  change(work: () => Promise<PipelineRunDetail>): () => Promise<void>;
}

const StopRun = ({ run: { id, name }, action, change }: RunActionProps) => (
  <Confirm
    action={action}
    work={change(() => ask('POST', '/api/pipelines/{id}/stop', { id }))}
    kind="danger"
    question={<>Stop the run {visibleText(name)} and all runs below it?</>}
    label="Stop it"
  >
    Stop the run
  </Confirm>
);

const RetryRun = ({ run: { id, name }, action, change }: RunActionProps) => (
  <Confirm
    action={action}
    work={change(() => ask('POST', '/api/pipelines/{id}/retry', { id, body: {} }))}
    question={<>Retry {visibleText(name)} from the failed stages? Completed stages are kept.</>}
    label="Retry it"
  >
    Retry
  </Confirm>
);
