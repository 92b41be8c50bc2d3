import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  amount,
  anyText,
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  optional,
  queryFlag,
  queryWhole,
  record,
  type Static,
  text,
  time,
  whole,
} from '../kernel/contract/schema.js';

const big = () => whole(0, Number.MAX_SAFE_INTEGER);

const Limits = object('AgentLimits', {
  maxSteps: whole(1, 1000),
  maxSeconds: whole(1, 86_400),
  maxTokens: whole(1, 100_000_000),
  maxAnswerTokens: whole(1, 1_000_000).description('Of one answer of a model, reasoning included'),
  maxCostUsd: amount(0, 10_000),
  maxDepth: whole(0, 10),
  maxAgents: whole(1, 100),
});

const status = () =>
  oneOf(
    'AgentStatus',
    'queued',
    'running',
    'waiting_approval',
    'paused',
    'completed',
    'failed',
    'stopped',
  );

export const Agent = object('Agent', {
  id: id('agent'),
  name: text(200),
  topic: nullable(text(100)),
  role: nullable(text(100)),
  model: text(200),
  prompt: anyText(10_000_000),
  status: status(),
  untrusted: flag().description('Spawned by what came from outside'),
  parentId: nullable(id('agent')),
  sessionId: id('session'),
  hookId: nullable(id('hook')),
  executionId: nullable(id('execution')),
  steps: big(),
  usage: object('Usage', {
    inputTokens: big(),
    outputTokens: big(),
    costUsd: amount(0, Number.MAX_SAFE_INTEGER),
  }),
  limits: Limits,
  result: nullable(anyText(10_000_000)),
  error: nullable(anyText(100_000)),
  createdAt: time(),
  startedAt: nullable(time()),
  finishedAt: nullable(time()),
});
export type Agent = Static<typeof Agent>;

const GivenLimits = object('GivenLimits', {
  maxSteps: optional(whole(1, 1000)),
  maxSeconds: optional(whole(1, 86_400)),
  maxTokens: optional(whole(1, 100_000_000)),
  maxAnswerTokens: optional(
    whole(1, 1_000_000).description('Of one answer of a model, reasoning included'),
  ),
  maxCostUsd: optional(amount(0, 10_000)),
  maxDepth: optional(whole(0, 10)),
  maxAgents: optional(whole(1, 100)),
});

export const NewAgent = object('NewAgent', {
  prompt: text(1_000_000).description('What the agent is to do'),
  topic: optional(text(100)),
  model: optional(text(200)),
  name: optional(text(200)),
  expertId: optional(text(80)),
  orchestrated: optional(flag()),
  tools: optional(
    list(text(100), 50).description(
      'Tools it may use though they have effects, until it has read what came from outside; to grant those takes the person or a token with approvals:write',
    ),
  ),
  limits: optional(GivenLimits),
  sessionId: optional(text(80)),
});
export type NewAgent = Static<typeof NewAgent>;

const AgentEvent = object('AgentEvent', {
  id: whole(1, Number.MAX_SAFE_INTEGER).description('Sequence number, from 1 per agent'),
  type: oneOf('AgentEventType', 'agent.status', 'agent.message', 'agent.tool_call'),
  agentId: id('agent'),
  data: record('AgentEventData'),
  at: time(),
});

export const agents = contract({
  list: {
    method: 'GET',
    path: '/api/agents',
    summary: 'List your agents',
    query: pageQuery('AgentQuery', {
      status: optional(status()),
      topic: optional(text(100)),
      hookId: optional(text(80)),
      executionId: optional(text(80)),
      sessionId: optional(text(80)),
      rootId: optional(text(80).description('The agent with this id and all under it')),
      untrusted: optional(queryFlag()),
    }),
    reply: pageOf('agents', Agent),
  },
  spawn: {
    method: 'POST',
    path: '/api/agents',
    summary: 'Spawn an agent',
    example: { prompt: 'Say hello', name: 'greeter' },
    body: NewAgent,
    reply: Agent,
    status: 201,
  },
  get: { method: 'GET', path: '/api/agents/{id}', summary: 'Show an agent', reply: Agent },
  delete: { method: 'DELETE', path: '/api/agents/{id}', summary: 'Stop the agent and remove it' },
  message: {
    method: 'POST',
    path: '/api/agents/{id}/message',
    summary: 'Say something to the agent; read before its next step, or its next turn',
    example: { content: 'And in French?' },
    body: object('AgentMessage', { content: text(100_000) }),
    reply: Agent,
    status: 202,
  },
  pause: {
    method: 'POST',
    path: '/api/agents/{id}/pause',
    summary: 'Pause the agent',
    reply: Agent,
  },
  resume: {
    method: 'POST',
    path: '/api/agents/{id}/resume',
    summary: 'Let a paused agent go on',
    reply: Agent,
  },
  stop: {
    method: 'POST',
    path: '/api/agents/{id}/stop',
    summary: 'Stop the agent and keep it',
    reply: Agent,
  },
  events: {
    method: 'GET',
    path: '/api/agents/{id}/events',
    summary: 'Events after a number, oldest first; the newest 200 are kept',
    query: object('EventQuery', {
      after: optional(queryWhole(0, Number.MAX_SAFE_INTEGER)),
      limit: optional(queryWhole(1, 200)),
      wait: optional(queryWhole(0, 30).description('Seconds to wait for one')),
    }),
    reply: object('AgentEvents', {
      events: list(AgentEvent, 200),
      lastId: big().description('The next `after`: number of the last event given'),
      oldestId: big(),
      gap: flag().description('Events after `after` were dropped by the ring'),
    }),
  },
});
