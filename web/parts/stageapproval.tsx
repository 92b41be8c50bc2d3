import type { Ref } from 'preact';
import { useState } from 'preact/hooks';
import { isRecord } from '../../src/kernel/jsonvalue.js';
import type { PipelineRunDetail } from '../../src/pipelines/runs/contract.js';
import { ask } from '../state/api.js';
import { useDoubleTapGuard } from '../state/doubletap.js';
import type { Loaded } from '../state/load.js';
import { useWasVisible } from '../state/viewport.js';
import { useAction } from './action.js';
import type { CalledTool } from './callfacts.js';
import { DecisionButtons } from './decision.js';
import { LongText, Values, visibleText } from './json.js';
import { Failure } from './notes.js';
import { WholeCall } from './wholecall.js';

/** Message of a stage, and the other fields of its request. */
export const StageQuestion = ({
  of,
  without = [],
}: {
  of: unknown;
  without?: readonly string[];
}) => {
  const { message, ...all } = Object(of);
  const others = Object.fromEntries(
    Object.entries(all).filter(([name]) => !without.includes(name)),
  );
  return (
    <>
      {typeof message === 'string' && <LongText text={message} isWhole />}
      {Object.keys(others).length > 0 && <Values of={others} isWhole />}
    </>
  );
};

/** The call that a stage would make. `null` if it requests no call. */
const callIn = (input: unknown): CalledTool | null => {
  const { toolId, toolAction, arguments: given, details = [] } = Object(input);
  const isCall = typeof toolId === 'string' && typeof toolAction === 'string' && isRecord(given);
  return isCall ? { tool: toolId, action: toolAction, arguments: given, details } : null;
};

/** The full request: the call as it would run, or the message. */
const FullRequest = ({
  of,
  digest,
  end,
}: {
  of: unknown;
  digest: string;
  end: Ref<HTMLParagraphElement>;
}) => {
  const call = callIn(of);
  return call ? (
    <>
      <StageQuestion of={of} without={['toolId', 'toolAction', 'arguments', 'details']} />
      <WholeCall call={call} digest={digest} end={end} />
    </>
  ) : (
    <>
      <StageQuestion of={of} />
      <p class="muted" ref={end}>
        Digest <code>{digest.slice(0, 12)}</code>
      </p>
    </>
  );
};

/** Request of a stage that waits for approval, exactly as it would run, and the decision. */
export const StageApproval = ({ run, stage, loaded, digest }: ShownStage & { digest: string }) => {
  const action = useAction();
  const [reason, setReason] = useState('');
  const answer = (verb: 'approve' | 'reject') => async (): Promise<void> => {
    const at = { id: run.id, key: stage.key };
    const body = { digest, ...(reason.trim() !== '' && { reason: reason.trim() }) };
    try {
      loaded.replace(
        await ask('POST', `/api/pipelines/{id}/stages/{key}/${verb}`, { ...at, body }),
      );
    } catch (error) {
      await loaded.reload();
      throw error;
    }
    document.querySelector('h1')?.focus();
  };
  const { mark, isSeen } = useWasVisible<HTMLParagraphElement>();
  const isSettled = useDoubleTapGuard(digest);
  return (
    <section aria-label={`Your decision on ${visibleText(stage.name)}`}>
      <h3>Request</h3>
      <FullRequest of={stage.input} digest={digest} end={mark} />
      {action.error && <Failure error={action.error} />}
      <DecisionButtons
        action={action}
        yes={{ label: 'Approve', work: answer('approve') }}
        no={{ label: 'Deny', work: answer('reject') }}
        isSettled={isSettled}
        isRead={isSeen}
      />
      <label>
        Reason (shown in the run)
        <input
          maxLength={2000}
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
    </section>
  );
};

/** A stage of a run, and the run as loaded by the view. */
export interface ShownStage {
  run: PipelineRunDetail;
  stage: PipelineRunDetail['stages'][number];
  loaded: Loaded<PipelineRunDetail>;
}
