import { useEffect, useRef, useState } from 'preact/hooks';
import type { Approval } from '../../src/kernel/contract/approval.js';
import { RequesterFacts } from '../parts/callfacts.js';
import { DecisionForm, type DecisionScope, scopeText } from '../parts/decision.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Fact, State, UntrustedMark } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { Ago, Left } from '../parts/time.js';
import { WholeCall } from '../parts/wholecall.js';
import { ask } from '../state/api.js';
import { useDoubleTapGuard } from '../state/doubletap.js';
import { useLoad } from '../state/load.js';
import { useWasVisible } from '../state/viewport.js';

/** Decision made here: the allowed scope, or `null` if denied. */
interface LocalDecision {
  id: string;
  scope: DecisionScope | null;
}

/** One call exactly as it would run, and its decision. */
export const ApprovalView = ({ id }: { id: string }) => {
  const [given, setGiven] = useState<LocalDecision | null>(null);
  const approval = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/chat/approvals/{id}', { id }, signal),
    topics: ['approval'],
    concerns: (event) =>
      typeof event === 'object' && event !== null && 'id' in event && event.id === id,
  });
  const answered = (next: Approval, scope: DecisionScope | null): void => {
    setGiven({ id, scope });
    approval.replace(next);
  };
  return (
    <>
      <Heading title="Approval" />
      <Show of={approval} what="the call" listed="approvals">
        {(data) =>
          data.status === 'pending' ? (
            <Pending
              key={data.digest}
              approval={data}
              answered={answered}
              reload={approval.reload}
            />
          ) : (
            <>
              <DecidedCall approval={data} given={given?.id === id ? given : null} />
              <WholeCall call={data} digest={data.digest} end={null}>
                <RequesterFacts agentId={data.agentId} />
              </WholeCall>
              <RequestFacts approval={data} />
            </>
          )
        }
      </Show>
    </>
  );
};

const Pending = ({
  approval,
  answered,
  reload,
}: {
  approval: Approval;
  answered(next: Approval, scope: DecisionScope | null): void;
  reload(): Promise<void>;
}) => {
  const { mark, isSeen } = useWasVisible<HTMLParagraphElement>();
  const isSettled = useDoubleTapGuard(approval.digest);
  return (
    <>
      <p class="line">
        <State of={approval.status} />
        {approval.untrusted && <UntrustedMark />}
        <span class="at">
          <Left until={approval.expiresAt} /> left
        </span>
      </p>
      <WholeCall call={approval} digest={approval.digest} end={mark}>
        <RequesterFacts agentId={approval.agentId} />
      </WholeCall>
      <RequestFacts approval={approval} />
      <DecisionForm
        approval={approval}
        isSettled={isSettled}
        isRead={isSeen}
        answered={answered}
        reload={reload}
      />
    </>
  );
};

const RequestFacts = ({ approval }: { approval: Approval }) => (
  <dl class="facts">
    <Fact name="Reason">{visibleText(approval.reason)}</Fact>
    <Fact name="Requested">
      <Ago at={approval.createdAt} />
    </Fact>
  </dl>
);

/** Decision on a call. It gets the focus if it was made here, because the buttons are gone. */
const DecidedCall = ({ approval, given }: { approval: Approval; given: LocalDecision | null }) => {
  const line = useRef<HTMLParagraphElement>(null);
  const isOurs = given !== null;
  useEffect(() => {
    if (isOurs) line.current?.focus();
  }, [isOurs]);
  return (
    <section aria-label="Decision">
      <p role="status" ref={line} tabIndex={-1}>
        <State of={approval.status} />
        {approval.untrusted && (
          <>
            {' '}
            <UntrustedMark />
          </>
        )}
        {approval.decidedAt !== null && (
          <>
            {' '}
            <Ago at={approval.decidedAt} />
          </>
        )}
      </p>
      {given?.scope && <p>Allowed: {scopeText(approval, given.scope)}</p>}
      {given?.scope && given.scope !== 'once' && (
        <p class="muted">
          List or revoke standing approvals with <code>adjutant approvals grants list</code>.
        </p>
      )}
      {approval.decisionReason !== null && <p>{visibleText(approval.decisionReason)}</p>}
      <p>
        <a class="tap" href="/">
          What else needs your attention
        </a>
      </p>
    </section>
  );
};
