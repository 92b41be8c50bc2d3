import type { Agent } from '../../src/agents/contract.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { Button, useAction } from '../parts/action.js';
import { AgentFacts } from '../parts/agentfacts.js';
import { Composer } from '../parts/composer.js';
import { Confirm } from '../parts/confirm.js';
import { Heading } from '../parts/heading.js';
import { LongText, visibleText } from '../parts/json.js';
import { Failure, LoadingNote, State, UntrustedMark } from '../parts/notes.js';
import { PendingCalls, usePendingCalls } from '../parts/pendingcalls.js';
import { Show } from '../parts/show.js';
import { SubAgents } from '../parts/subagents.js';
import { Ago } from '../parts/time.js';
import { LiveReply, Transcript } from '../parts/transcript.js';
import { type AgentEvents, agentIdOfEvent, useAgentEvents } from '../state/agentevents.js';
import { ask } from '../state/api.js';
import { type Loaded, useLoad } from '../state/load.js';
import { useMessages } from '../state/messages.js';
import { useReplies, type WrittenReply } from '../state/replies.js';
import { buildTranscript } from '../state/transcript.js';

const ENDED = ['completed', 'failed', 'stopped'];

export const AgentView = ({ id }: { id: string }) => {
  const agent = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/agents/{id}', { id }, signal),
    topics: ['agent.status', 'agent.message'],
    concerns: (event) => agentIdOfEvent(event) === id,
  });
  const events = useAgentEvents(id);
  const reply = useReplies([id]).get(id);
  const calls = usePendingCalls([id]);
  return (
    <>
      <Heading title={visibleText(agent.data?.name ?? 'Agent')} />
      <Show of={agent} what="the agent" listed="agents">
        {(data) => (
          <>
            <AgentState agent={data} />
            <PendingCalls calls={calls} />
            <AgentActions agent={data} loaded={agent} />
            <AgentFacts agent={data} />
            <details>
              <summary>Task</summary>
              <LongText text={data.prompt} />
            </details>
            <SubAgents id={id} />
            <h2>Transcript</h2>
            <AgentTranscript agent={data} events={events} reply={reply} />
            <Composer
              name={`agent ${id}`}
              label={`Message to ${visibleText(data.name)}`}
              hint={messageHint(data, calls.data?.length ?? 0)}
              send={async ({ text, sendKey }) => {
                const body = { content: text };
                agent.replace(await ask('POST', '/api/agents/{id}/message', { id, body, sendKey }));
              }}
            />
          </>
        )}
      </Show>
    </>
  );
};

const messageHint = ({ status }: Agent, waiting: number): string => {
  if (waiting > 0) return 'A message withdraws the pending call.';
  if (ENDED.includes(status)) return 'The agent has ended. A message starts a new turn.';
  return 'Delivered before the next step of the agent.';
};

const AgentState = ({ agent }: { agent: Agent }) => (
  <>
    <p class="line">
      <span role="status">
        <State of={agent.status} />
      </span>
      {agent.untrusted && <UntrustedMark />}
      <span class="at">
        <Ago at={agent.createdAt} />
      </span>
    </p>
    {agent.error !== null && <p class="note danger">{visibleText(agent.error)}</p>}
  </>
);

/** Events, and messages to the agent, which are in its conversation and not events. */
const AgentTranscript = ({
  agent,
  events,
  reply,
}: {
  agent: Agent;
  events: AgentEvents;
  reply: WrittenReply | undefined;
}) => {
  const { messages } = useMessages(agent.sessionId, [agent.id]);
  const since = events.dropped > 0 ? (events.events[0]?.at ?? '') : agent.createdAt;
  const userMessages = messages.filter(
    ({ role, agentId, createdAt }) => role === 'user' && agentId === agent.id && createdAt > since,
  );
  return (
    <>
      {events.error && <Failure error={events.error} retry={events.reload} />}
      {events.dropped > 0 && (
        <p class="muted">
          The first {events.dropped} events are no longer kept.{' '}
          <a href={pageLink('chat', agent.sessionId)}>The conversation contains all messages.</a>
        </p>
      )}
      {!events.isLoaded && !events.error && <LoadingNote what="Loading the transcript" />}
      <div role="log" aria-label="Transcript">
        <Transcript items={buildTranscript(events.events, userMessages)} />
      </div>
      {reply?.messageId === null && <LiveReply reply={reply} />}
    </>
  );
};

const AgentActions = ({ agent, loaded }: { agent: Agent; loaded: Loaded<Agent> }) => {
  const action = useAction();
  const { id, name, status } = agent;
  const act = (verb: 'pause' | 'resume' | 'stop') => async (): Promise<void> =>
    loaded.replace(await ask('POST', `/api/agents/{id}/${verb}`, { id }));
  if (ENDED.includes(status)) return null;
  return (
    <section class="verbs" aria-label="Actions">
      {action.error && <Failure error={action.error} />}
      <div class="buttons">
        {status === 'paused' ? (
          <Button key="verb" action={action} kind="main" work={act('resume')}>
            Resume
          </Button>
        ) : (
          <Button key="verb" action={action} work={act('pause')}>
            Pause
          </Button>
        )}
      </div>
      <Confirm
        action={action}
        work={act('stop')}
        kind="danger"
        label="Stop it"
        question={`Stop ${visibleText(name)}? Its actions are not undone. The agent is kept.`}
      >
        Stop
      </Confirm>
    </section>
  );
};
