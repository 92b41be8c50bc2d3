import type { Agent } from '../../src/agents/contract.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { ask } from '../state/api.js';
import type { Loaded } from '../state/load.js';
import { Button, useAction } from './action.js';
import { visibleText } from './json.js';
import { Failure, State, UntrustedMark } from './notes.js';

const WORDS: Partial<Record<Agent['status'], string>> = {
  queued: 'Waiting in the queue.',
  waiting_approval: 'Waiting for your decision.',
  paused: 'Resume the agent to continue.',
  stopped: 'Continues with your next message.',
  failed: 'Retries with your next message.',
};

interface SpeakerProps {
  agent: Agent;
  isWriting: boolean;
  loaded: Loaded<Agent[]>;
}

/** The agent that replies in a conversation: its state, and buttons to stop or resume it. */
export const ConversationAgent = ({ agent, isWriting, loaded }: SpeakerProps) => {
  const { id, status, error } = agent;
  const running = isWriting ? 'The model is writing.' : 'Working.';
  return (
    <section class="speaker" aria-label="The agent">
      {error !== null && <p class="note danger">{visibleText(error)}</p>}
      <div class="line">
        <p role="status">
          <State of={status} />{' '}
          <span class="muted">{status === 'running' ? running : WORDS[status]}</span>
        </p>
        {agent.untrusted && <UntrustedMark />}
        <a class="tap" href={pageLink('agent', id)}>
          The agent
        </a>
        <SpeakerVerb agent={agent} loaded={loaded} />
      </div>
    </section>
  );
};

/** Stops the agent while it works, or resumes it while paused. */
const SpeakerVerb = ({ agent, loaded }: Omit<SpeakerProps, 'isWriting'>) => {
  const action = useAction();
  const { id, status } = agent;
  const isAtWork = status === 'queued' || status === 'running' || status === 'waiting_approval';
  const act = (verb: 'resume' | 'stop') => async (): Promise<void> => {
    await ask('POST', `/api/agents/{id}/${verb}`, { id });
    await loaded.reload();
  };
  return (
    <>
      {isAtWork && (
        <Button action={action} kind="danger" work={act('stop')}>
          Stop
        </Button>
      )}
      {status === 'paused' && (
        <Button action={action} work={act('resume')}>
          Resume
        </Button>
      )}
      {action.error && <Failure error={action.error} />}
    </>
  );
};
