import { useState } from 'preact/hooks';
import type { Agent } from '../../src/agents/contract.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { StatusFilter } from '../parts/filter.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty, State, UntrustedMark } from '../parts/notes.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';

type AgentState = Agent['status'];

const STATUSES: readonly AgentState[] = [
  'queued',
  'running',
  'waiting_approval',
  'paused',
  'completed',
  'failed',
  'stopped',
];

/** Agents, newest first, filtered by the status in the address. */
export const Agents = ({ query }: { query: URLSearchParams }) => {
  const [status, choose] = useState(STATUSES.find((each) => each === query.get('status')));
  const list = usePaged<Agent>({
    key: status ?? '',
    load: async (page, signal) => {
      const filter = { ...page, ...(status && { status }) };
      const { agents, nextCursor } = await ask('GET', '/api/agents', { query: filter }, signal);
      return { rows: agents, nextCursor };
    },
    topics: ['agent.status'],
  });
  return (
    <>
      <Heading title="Agents" />
      <StatusFilter<AgentState> of={STATUSES} chosen={status} choose={choose} />
      <Cards of={list} what="agents" empty={<NoAgents status={status} />}>
        {(agent) => <AgentCard agent={agent} />}
      </Cards>
    </>
  );
};

const NoAgents = ({ status }: { status: AgentState | undefined }) =>
  status === undefined ? (
    <Empty>
      No agents yet. <a href={pageLink('chats')}>A chat</a> starts one, and so do hooks and
      recurring tasks.
    </Empty>
  ) : (
    <Empty>No agents with the status {status.replaceAll('_', ' ')}.</Empty>
  );

const AgentCard = ({ agent }: { agent: Agent }) => (
  <>
    <p class="line">
      <State of={agent.status} />
      {agent.untrusted && <UntrustedMark />}
      <span class="at">
        <Ago at={agent.createdAt} />
      </span>
    </p>
    <p>
      <a href={pageLink('agent', agent.id)}>
        <strong>{visibleText(agent.name)}</strong>
      </a>
    </p>
    <p class="muted">
      {agent.topic !== null && `${visibleText(agent.topic)}, `}
      {visibleText(agent.model)}, step {agent.steps}, ${agent.usage.costUsd.toFixed(2)}
    </p>
    {agent.error !== null && <p class="danger clip">{visibleText(agent.error)}</p>}
  </>
);
