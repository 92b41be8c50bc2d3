import { useId, useState } from 'preact/hooks';
import type { Approval } from '../../src/kernel/contract/approval.js';
import { ask } from '../state/api.js';
import { type Action, Button, useAction } from './action.js';
import { visibleText } from './json.js';
import { Failure } from './notes.js';

export type DecisionScope = Approval['scopes'][number];

interface AnswerProps {
  approval: Approval;
  /** False while a click may be meant for what was there before. */
  isSettled: boolean;
  /** False until all arguments have been on screen. */
  isRead: boolean;
  answered(next: Approval, scope: DecisionScope | null): void;
  reload(): Promise<void>;
}

/** What a scope covers (docs/agents.md), with the name of the host. */
export const scopeText = (
  { arguments: { url, method }, untrusted }: Approval,
  scope: DecisionScope,
): string => {
  if (scope === 'once') return 'This call only';
  const isKnown = typeof url === 'string' && URL.canParse(url);
  const host = isKnown ? `host (${visibleText(new URL(url).host)})` : 'host';
  if (scope === 'conversation') {
    return `This tool${isKnown ? ` and ${host}` : ''} in this conversation, for 30 days`;
  }
  const isBelow = untrusted && method !== 'GET';
  const path = isBelow ? ', for this path and paths below it' : '';
  return `This tool, ${host}, port and method${path}, from this hook or conversation, for 30 days`;
};

/**
 * The decision on a call, bound to the shown content by its digest. If the daemon rejects it, the
 * call is reloaded: it was decided elsewhere, or has changed.
 */
export const DecisionForm = ({ approval, isSettled, isRead, answered, reload }: AnswerProps) => {
  const [scope, setScope] = useState<DecisionScope>('once');
  const [reason, setReason] = useState('');
  const settings = { approval, scope, setScope, reason, setReason };
  const action = useAction();
  const answer = (approved: boolean) => async (): Promise<void> => {
    const more = approved ? { scope } : reason.trim() !== '' && { reason: reason.trim() };
    try {
      answered(await sendAnswer(approval, { approved, ...more }), approved ? scope : null);
    } catch (error) {
      await reload();
      throw error;
    }
  };
  return (
    <section class="answer" aria-label="Your decision">
      {action.error && <Failure error={action.error} />}
      <AnswerSettings {...settings} />
      <DecisionButtons
        action={action}
        yes={{ label: 'Allow', work: answer(true) }}
        no={{ label: 'Deny', work: answer(false) }}
        isSettled={isSettled}
        isRead={isRead}
      />
    </section>
  );
};

interface AnswerButtonsProps {
  action: Action;
  yes: { label: string; work(): Promise<unknown> };
  no: { label: string; work(): Promise<unknown> };
  isSettled: boolean;
  isRead: boolean;
}

/** A call that was not read to its end cannot be allowed. */
export const DecisionButtons = ({ action, yes, no, isSettled, isRead }: AnswerButtonsProps) => {
  const hint = useId();
  return (
    <>
      <p id={hint} class="muted" role="status">
        {isRead ? '' : 'Scroll to the end of the call to allow it.'}
      </p>
      <div class="buttons">
        <Button
          action={action}
          kind="main"
          isOff={!isSettled || !isRead}
          describedBy={hint}
          work={yes.work}
        >
          {yes.label}
        </Button>
        <Button action={action} kind="danger" isOff={!isSettled} work={no.work}>
          {no.label}
        </Button>
      </div>
    </>
  );
};

const sendAnswer = async (
  { id: approvalId, digest }: Approval,
  decision: { approved: boolean; scope?: DecisionScope; reason?: string },
): Promise<Approval> =>
  ask('POST', '/api/chat/approve', { body: { approvalId, digest, ...decision } });

interface AnswerSettingsProps {
  approval: Approval;
  scope: DecisionScope;
  setScope(scope: DecisionScope): void;
  reason: string;
  setReason(reason: string): void;
}

/** Scope and reason, folded because most decisions need neither. */
const AnswerSettings = ({ approval, scope, setScope, reason, setReason }: AnswerSettingsProps) => (
  <details>
    <summary>
      {approval.scopes.length > 1 ? `Scope and reason: ${scopeText(approval, scope)}` : 'Reason'}
    </summary>
    {approval.scopes.length > 1 && (
      <ScopeChoice approval={approval} chosen={scope} choose={setScope} />
    )}
    <label>
      Reason (sent to the agent if you deny)
      <input
        maxLength={1000}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
    </label>
  </details>
);

const ScopeChoice = ({
  approval,
  chosen,
  choose,
}: {
  approval: Approval;
  chosen: DecisionScope;
  choose(scope: DecisionScope): void;
}) => (
  <fieldset>
    <legend>Allow for</legend>
    {approval.scopes.map((each) => (
      <label key={each} class="choice">
        <input
          type="radio"
          name={`scope ${approval.id}`}
          value={each}
          checked={chosen === each}
          onChange={() => choose(each)}
        />
        {scopeText(approval, each)}
      </label>
    ))}
  </fieldset>
);
