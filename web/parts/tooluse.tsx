import { pageLink } from '../../src/kernel/pagepath.js';
import { durationText } from '../../tui/parts/times.js';
import type { ToolUse } from '../state/transcript.js';
import { LongText, Value, visibleText } from './json.js';
import { State, UntrustedMark } from './notes.js';

/** A tool call in one line, which opens to its arguments and result. */
export const ToolDetails = ({ of }: { of: ToolUse }) => {
  const { tool, result, approval, approvalId } = of;
  return (
    <details>
      <summary>
        <span class="kind">Call</span> <code>{visibleText(tool)}</code> <CallState of={of} />{' '}
        {result?.isOutside && <UntrustedMark />}
      </summary>
      {approvalId !== null && (
        <p>
          Approval: <State of={approval ?? 'pending'} />{' '}
          <a class="tap" href={pageLink('approval', approvalId)}>
            The approval
          </a>
        </p>
      )}
      <h3>Arguments</h3>
      <Value of={of.arguments} />
      <h3>Result</h3>
      {result === null ? (
        <p class="muted">No result yet.</p>
      ) : (
        <>
          <LongText text={result.text} />
          {result.ms !== null && <p class="muted">Duration: {durationText(result.ms)}</p>}
        </>
      )}
    </details>
  );
};

const CallState = ({ of: { result, approval } }: { of: ToolUse }) => {
  if (result) return <State of={result.isOk ? 'ok' : 'failed'} />;
  if (approval === 'pending') return <State of="waiting for you" />;
  return <State of={approval ?? 'running'} />;
};
