import { useEffect, useRef, useState } from 'preact/hooks';
import type { Approval } from '../../src/kernel/contract/approval.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { agentIdOfEvent } from '../state/agentevents.js';
import { ask } from '../state/api.js';
import { useDoubleTapGuard } from '../state/doubletap.js';
import { type Loaded, useLoad } from '../state/load.js';
import { useWasVisible } from '../state/viewport.js';
import { DecisionForm } from './decision.js';
import { visibleText } from './json.js';
import { Failure, State, UntrustedMark } from './notes.js';
import { Left } from './time.js';
import { WholeCall } from './wholecall.js';

/** Hook: pending calls of these agents, oldest first. */
export const usePendingCalls = (agentIds: readonly string[]): Loaded<Approval[]> => {
  const [only] = agentIds;
  return useLoad({
    key: agentIds.join(' '),
    load: async (signal) => {
      if (only === undefined) return [];
      const query = {
        status: 'pending' as const,
        limit: 200,
        ...(agentIds.length === 1 && { agentId: only }),
      };
      const { approvals } = await ask('GET', '/api/chat/approvals', { query }, signal);
      return approvals
        .filter(({ agentId }) => agentId !== null && agentIds.includes(agentId))
        .reverse();
    },
    topics: ['approval'],
    concerns: (event) => agentIds.includes(agentIdOfEvent(event) ?? ''),
  });
};

/**
 * Pending calls in full, with their decision buttons. A decided call stays as a line, which takes
 * over the focus. A second tap at the same position never answers the next call.
 */
export const PendingCalls = ({ calls }: { calls: Loaded<Approval[]> }) => {
  const [answered, setAnswered] = useState<Approval[]>([]);
  const pending = (calls.data ?? []).filter(({ id }) => answered.every((one) => one.id !== id));
  const isSettled = useDoubleTapGuard(
    `${answered.length} ${pending.map(({ id }) => id).join(' ')}`,
  );
  const answer = (next: Approval): void => {
    setAnswered((before) => [...before, next]);
    void calls.reload();
  };
  return (
    <>
      {calls.error && <Failure error={calls.error} retry={() => void calls.reload()} />}
      {answered.map((one) => (
        <AnsweredCall key={one.id} call={one} />
      ))}
      {pending.map((one) => (
        <PendingCall
          key={one.id}
          call={one}
          isSettled={isSettled}
          answered={answer}
          reload={calls.reload}
        />
      ))}
    </>
  );
};

const AnsweredCall = ({ call }: { call: Approval }) => {
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => line.current?.focus({ preventScroll: true }), []);
  return (
    <p ref={line} tabIndex={-1} role="status" class="line">
      <State of={call.status} />
      <a class="tap" href={pageLink('approval', call.id)}>
        {visibleText(call.tool)}: {visibleText(call.action)}
      </a>
    </p>
  );
};

const PendingCall = ({
  call,
  isSettled,
  answered,
  reload,
}: {
  call: Approval;
  isSettled: boolean;
  answered(next: Approval): void;
  reload(): Promise<void>;
}) => {
  const { mark, isSeen } = useWasVisible<HTMLParagraphElement>();
  return (
    <section class="card approval" aria-labelledby={`asks-${call.id}`}>
      <CallHead call={call} />
      <WholeCall call={call} digest={call.digest} end={mark} />
      <p>
        <a class="tap" href={pageLink('approval', call.id)}>
          Open this approval
        </a>
      </p>
      <DecisionForm
        key={call.digest}
        approval={call}
        isSettled={isSettled}
        isRead={isSeen}
        answered={answered}
        reload={reload}
      />
    </section>
  );
};

const CallHead = ({ call }: { call: Approval }) => (
  <>
    <h2 id={`asks-${call.id}`}>
      Approval requested for {visibleText(call.tool)}: {visibleText(call.action)}
    </h2>
    <p class="line">
      <State of="waiting for you" />
      {call.untrusted && <UntrustedMark />}
      <span class="at">
        <Left until={call.expiresAt} /> left
      </span>
    </p>
    <p class="muted">{visibleText(call.reason)}</p>
  </>
);
