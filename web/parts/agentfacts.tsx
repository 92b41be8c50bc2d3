import type { ComponentChildren } from 'preact';
import type { Agent } from '../../src/agents/contract.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { visibleText } from './json.js';

/** Model, usage, limits and origin of an agent. */
export const AgentFacts = ({ agent }: { agent: Agent }) => {
  const { limits, usage } = agent;
  const tokens = (usage.inputTokens + usage.outputTokens).toLocaleString('en');
  return (
    <dl class="facts">
      <Fact name="Model">
        {visibleText(agent.model)}
        {agent.topic !== null && ` for topic ${visibleText(agent.topic)}`}
      </Fact>
      {agent.role !== null && <Fact name="Role">{visibleText(agent.role)}</Fact>}
      <Fact name="Steps">
        {agent.steps} of {limits.maxSteps}
      </Fact>
      <Fact name="Tokens">
        {tokens} of {limits.maxTokens.toLocaleString('en')}
      </Fact>
      <Fact name="Cost">
        ${usage.costUsd.toFixed(2)} of ${limits.maxCostUsd.toFixed(2)}
      </Fact>
      <Fact name="Limits">
        {limits.maxSeconds} s, depth {limits.maxDepth}, {limits.maxAgents} agents, replies up to{' '}
        {limits.maxAnswerTokens.toLocaleString('en')} tokens
      </Fact>
      <Fact name="Trust">
        {agent.untrusted ? 'untrusted: the agent has read external input' : 'trusted'}
      </Fact>
      <Fact name="Started by">
        <Cause agent={agent} />
      </Fact>
      <Fact name="Conversation">
        <a href={pageLink('chat', agent.sessionId)}>All messages</a>
      </Fact>
    </dl>
  );
};

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

const Cause = ({ agent: { parentId, executionId, hookId } }: { agent: Agent }) => {
  if (parentId !== null) return <a href={pageLink('agent', parentId)}>Another agent</a>;
  if (executionId !== null) {
    return <a href={pageLink('execution', executionId)}>A hook execution</a>;
  }
  return <>{hookId === null ? 'You' : `Hook ${hookId}`}</>;
};
