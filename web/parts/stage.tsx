import { pageLink } from '../../src/kernel/pagepath.js';
import { LongText, Value, visibleText } from './json.js';
import { State, UntrustedMark } from './notes.js';
import { type ShownStage, StageApproval } from './stageapproval.js';
import { StageForm } from './stageform.js';
import { Ago, Left } from './time.js';

/** One stage: state, request or input, and output. */
export const RunStageCard = (shown: ShownStage) => {
  const { stage } = shown;
  const { status, digest } = stage;
  const isAsking = digest !== null;
  return (
    <li class="card">
      <p class="line">
        <State of={status} />
        {stage.untrusted && <UntrustedMark />}
        <span class="at">
          <StageTime stage={stage} />
        </span>
      </p>
      <p>
        <strong>{visibleText(stage.name)}</strong> <span class="muted">{stage.kind}</span>
      </p>
      {stage.needs.length > 0 && <p class="muted">after {visibleText(stage.needs.join(', '))}</p>}
      {stage.attempt > 1 && <p>attempt {stage.attempt}</p>}
      {stage.reason !== null && <p>{visibleText(stage.reason)}</p>}
      {stage.error !== null && <LongText text={stage.error} />}
      <StageLinks {...shown} />
      {isAsking && status === 'waiting_approval' && (
        <StageApproval key={digest} {...shown} digest={digest} />
      )}
      {isAsking && status === 'waiting_input' && (
        <StageForm key={digest} {...shown} digest={digest} />
      )}
      {!isAsking && <FoldedValue title="Input" of={stage.input} />}
      <FoldedValue title="Output" of={stage.output} />
    </li>
  );
};

const StageTime = ({ stage: { finishedAt, startedAt, dueAt } }: Pick<ShownStage, 'stage'>) => {
  if (finishedAt !== null) return <Ago at={finishedAt} />;
  if (dueAt !== null)
    return (
      <>
        <Left until={dueAt} /> left
      </>
    );
  return startedAt === null ? null : <Ago at={startedAt} />;
};

const NESTING = ['foreach', 'pipeline'];

const StageLinks = ({ run, stage: { kind, agentId, operationId, startedAt } }: ShownStage) => (
  <>
    {agentId !== null && (
      <p>
        <a href={pageLink('agent', agentId)}>The agent and its transcript</a>
      </p>
    )}
    {operationId !== null && (
      <p>
        <a href={pageLink('operation', operationId)}>The operation</a>
      </p>
    )}
    {NESTING.includes(kind) && startedAt !== null && (
      <p>
        <a href={`${pageLink('pipelines')}?parentId=${encodeURIComponent(run.id)}`}>
          Runs started by this stage
        </a>
      </p>
    )}
  </>
);

const FoldedValue = ({ title, of }: { title: string; of: unknown }) =>
  of === null || of === undefined ? null : (
    <details>
      <summary>{title}</summary>
      <Value of={of} />
    </details>
  );
