import { AgentLimits } from '../kernel/contract/agentaction.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const big = () => s.whole(0, Number.MAX_SAFE_INTEGER);

const status = () =>
  s.oneOf(
    'AgentStatus',
    'queued',
    'running',
    'waiting_approval',
    'paused',
    'completed',
    'failed',
    'stopped',
  );

export const Agent = s.object('Agent', {
  id: s.id('agent'),
  name: s.text(200),
  topic: s.nullable(s.text(100)),
  role: s.nullable(s.text(100)),
  model: s.text(200),
  prompt: s.anyText(10_000_000),
  status: status(),
  untrusted: s.flag().description('Spawned by what came from outside'),
  parentId: s.nullable(s.id('agent')),
  sessionId: s.id('session'),
  hookId: s.nullable(s.id('hook')),
  executionId: s.nullable(s.id('execution')),
  steps: big(),
  usage: s.object('Usage', {
    inputTokens: big(),
    outputTokens: big(),
    costUsd: s.amount(0, Number.MAX_SAFE_INTEGER),
  }),
  limits: AgentLimits,
  result: s.nullable(s.anyText(10_000_000)),
  note: s
    .nullable(s.anyText(2000))
    .description('Note about the result, such as that it was cut off. `null` if there is none.'),
  error: s.nullable(s.anyText(100_000)),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()),
  finishedAt: s.nullable(s.time()),
});
export type Agent = s.Static<typeof Agent>;

const NewAgent = s.object('NewAgent', {
  prompt: s.text(1_000_000).description('What the agent is to do'),
  topic: s.optional(s.text(100)),
  model: s.optional(s.text(200)),
  name: s.optional(s.text(200)),
  expertId: s.optional(s.text(80)),
  orchestrated: s.optional(s.flag()),
  tools: s.optional(
    s
      .list(s.text(100), 50)
      .description(
        'Tools it may use though they have effects, until it has read what came from outside; to grant those takes the person or a token with approvals:write',
      ),
  ),
  limits: s.optional(s.allOptional('GivenLimits', AgentLimits)),
  sessionId: s.optional(s.text(80)),
});

const AgentEvent = s.object('AgentEvent', {
  id: s.whole(1, Number.MAX_SAFE_INTEGER).description('Sequence number, from 1 per agent'),
  type: s.oneOf('AgentEventType', 'agent.status', 'agent.message', 'agent.tool_call'),
  agentId: s.id('agent'),
  data: s.record('AgentEventData'),
  at: s.time(),
});
/** An event as it is polled and published: `id` is its number in the agent's ring. */
export type AgentEvent = s.Static<typeof AgentEvent>;

/**
 * Text of a reply as it is written, on the topic `agent.delta`. It has no number and is not stored:
 * the message of the step has the complete text.
 */
export interface TextDelta {
  agentId: string;
  /** Number of the step, as in the event of the message that follows. */
  step: number;
  /**
   * Place of the first character in the reply, in UTF-16 units. 0 begins a reply; a place beyond the
   * text before means that text in between was left out.
   */
  from: number;
  text: string;
}

const verb = <const V extends string>(name: V, summary: string) =>
  endpoint.post(`/api/agents/{id}/${name}`, { summary, reply: Agent });

export const agents = contract({
  list: endpoint.get('/api/agents', {
    summary: 'List your agents',
    query: pageQuery('AgentQuery', {
      status: s.optional(status()),
      topic: s.optional(s.text(100)),
      hookId: s.optional(s.text(80)),
      executionId: s.optional(s.text(80)),
      sessionId: s.optional(s.text(80)),
      rootId: s.optional(s.text(80).description('The agent with this id and all under it')),
      untrusted: s.optional(s.queryFlag()),
    }),
    reply: pageOf('agents', Agent),
  }),
  spawn: endpoint.post('/api/agents', {
    summary: 'Spawn an agent',
    example: { prompt: 'Say hello', name: 'greeter' },
    body: NewAgent,
    reply: Agent,
    status: 201,
  }),
  get: endpoint.get('/api/agents/{id}', { summary: 'Show an agent', reply: Agent }),
  delete: endpoint.delete('/api/agents/{id}', { summary: 'Stop the agent and remove it' }),
  message: endpoint.post('/api/agents/{id}/message', {
    summary: 'Say something to the agent; read before its next step, or its next turn',
    example: { content: 'And in French?' },
    body: s.object('AgentMessage', { content: s.text(100_000) }),
    reply: Agent,
    status: 202,
  }),
  pause: verb('pause', 'Pause the agent'),
  resume: verb('resume', 'Let a paused agent go on'),
  stop: verb('stop', 'Stop the agent and keep it'),
  events: endpoint.get('/api/agents/{id}/events', {
    summary: 'Events after a number, oldest first; the newest 200 are kept',
    query: s.object('EventQuery', {
      after: s.optional(s.queryWhole(0, Number.MAX_SAFE_INTEGER)),
      limit: s.optional(s.queryWhole(1, 200)),
      wait: s.optional(s.queryWhole(0, 30).description('Seconds to wait for one')),
    }),
    reply: s.object('AgentEvents', {
      events: s.list(AgentEvent, 200),
      lastId: big().description('The next `after`: number of the last event given'),
      oldestId: big(),
      gap: s.flag().description('Events after `after` were dropped by the ring'),
    }),
  }),
});
