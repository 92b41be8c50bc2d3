import { AgentLimits, agentStatusSchema } from '../kernel/contract/agentaction.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const big = () => s.integer(0, Number.MAX_SAFE_INTEGER);

const status = () => agentStatusSchema('AgentStatus');

export const Agent = s.object('Agent', {
  id: s.id('agent'),
  orgId: s.orgId(),
  name: s.text(200),
  topic: s
    .nullable(s.text(100))
    .description(
      'Topic that selects the model. The model routing assigns models to topics. `null` if the agent has no topic',
    ),
  role: s
    .nullable(s.text(100))
    .description(
      'Name of the expert whose role the agent has. `orchestrator`: the agent delegates its prompt to an expert that is chosen automatically. `null` for other agents',
    ),
  model: s.text(200),
  prompt: s.anyText(10_000_000),
  status: status(),
  untrusted: s
    .boolean()
    .description(
      'Whether content from outside, such as a web page or an e-mail, has reached the agent. Calls of such an agent that have side effects or send data out need an approval, unless its hook grants the tool or a standing approval covers the call. Sending e-mail always needs an approval',
    ),
  parentId: s
    .nullable(s.id('agent'))
    .description('ID of the parent agent. `null` if the agent has no parent.'),
  sessionId: s.id('session'),
  hookId: s
    .nullable(s.id('hook'))
    .description('ID of the hook that started the agent. `null` if no hook started the agent.'),
  executionId: s
    .nullable(s.id('execution'))
    .description('ID of the hook execution that started the agent. `null` if there is none.'),
  steps: big().description('Number of model calls so far'),
  usage: s.object('Usage', {
    inputTokens: big(),
    outputTokens: big(),
    costUsd: s.number(0, Number.MAX_SAFE_INTEGER),
  }),
  limits: AgentLimits,
  result: s
    .nullable(s.anyText(10_000_000))
    .description('Result. `null` unless `status` is `completed`.'),
  note: s
    .nullable(s.anyText(2000))
    .description(
      'Note about the result, for example that the result was cut off. `null` if there is none.',
    ),
  error: s.nullable(s.anyText(100_000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()).description('Start time. `null` if not started yet'),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
});
export type Agent = s.Static<typeof Agent>;

const NewAgent = s.object('NewAgent', {
  prompt: s.text(1_000_000).description('Instructions that the agent carries out'),
  topic: s.optional(
    s
      .text(100)
      .description('Topic that selects the model. The model routing assigns models to topics'),
  ),
  model: s.optional(
    s
      .text(200)
      .description(
        'Model of the agent. Defaults to the model of the expert, then to the model for the topic, then to the default model',
      ),
  ),
  name: s.optional(s.text(200)),
  expertId: s.optional(s.text(80).description('ID of the expert that the agent acts as')),
  orchestrated: s.optional(
    s
      .boolean()
      .description(
        'Whether to delegate the prompt to an expert that is chosen automatically. Defaults to `false`',
      ),
  ),
  tools: s.optional(
    s
      .list(s.text(100), 50)
      .description(
        'Tools with side effects that the agent may use without approval. The grant ends when the ' +
          'agent reads content from outside, such as a web page. Granting requires a login or a token with ' +
          '`approvals:write`.',
      ),
  ),
  limits: s.optional(s.allOptional('GivenLimits', AgentLimits)),
  sessionId: s.optional(
    s
      .text(80)
      .description('ID of the conversation to continue. If omitted, a new conversation starts.'),
  ),
});

const AgentEvent = s.object('AgentEvent', {
  id: s.integer(1, Number.MAX_SAFE_INTEGER).description('Sequence number, from 1 per agent'),
  type: s.oneOf('AgentEventType', 'agent.status', 'agent.message', 'agent.tool_call'),
  agentId: s.id('agent'),
  data: s.record('AgentEventData'),
  at: s.time(),
});
export type AgentEvent = s.Static<typeof AgentEvent>;

/** Part of a reply, published on the topic `agent.delta`. It is neither numbered nor stored. */
export interface TextDelta {
  agentId: string;
  step: number;
  /**
   * Offset in the reply, in UTF-16 units. 0 starts a reply. A gap after the previous text means that
   * some text was skipped.
   */
  from: number;
  text: string;
}

const verb = <const V extends string>(name: V, summary: string) =>
  endpoint.post(`/api/agents/{id}/${name}`, { shared: 'admin', summary, reply: Agent });

export const agents = contract({
  list: endpoint.get('/api/agents', {
    shared: 'member',
    summary: 'List running and finished agents',
    query: pageQuery('AgentQuery', {
      status: s.optional(status()),
      topic: s.optional(s.text(100)),
      hookId: s.optional(s.text(80)),
      executionId: s.optional(s.text(80)),
      sessionId: s.optional(s.text(80)),
      rootId: s.optional(
        s.text(80).description('ID of an agent. Lists only this agent and all of its sub-agents'),
      ),
      untrusted: s.optional(s.queryFlag()),
    }),
    reply: createPageSchema('agents', Agent),
  }),
  spawn: endpoint.post('/api/agents', {
    shared: 'member',
    sharedBy: 'sessionId',
    summary: 'Spawn an agent',
    example: { prompt: 'Say hello', name: 'greeter' },
    body: NewAgent,
    reply: Agent,
    status: 201,
  }),
  get: endpoint.get('/api/agents/{id}', {
    shared: 'member',
    summary: 'Get an agent',
    reply: Agent,
  }),
  delete: endpoint.delete('/api/agents/{id}', {
    shared: 'admin',
    summary: 'Delete an agent',
    description:
      'An agent that has not ended is stopped first. Its sub-agents and events are deleted as well, and the messages of the conversation are kept.',
  }),
  message: endpoint.post('/api/agents/{id}/message', {
    shared: 'member',
    summary: 'Send a message to an agent',
    example: { content: 'And in French?' },
    body: s.object('AgentMessage', { content: s.text(100_000) }),
    reply: Agent,
    status: 202,
  }),
  pause: verb('pause', 'Pause an agent'),
  resume: verb('resume', 'Resume a paused agent'),
  stop: verb('stop', 'Stop an agent'),
  events: endpoint.get('/api/agents/{id}/events', {
    shared: 'member',
    summary: 'List events of an agent, oldest first',
    query: s.object('EventQuery', {
      after: s.optional(
        s
          .queryWhole(0, Number.MAX_SAFE_INTEGER)
          .description(
            'Sequence number of the last event that you received. Defaults to 0, which lists all stored events.',
          ),
      ),
      limit: s.optional(
        s.queryWhole(1, 200).description('Maximum number of events to return. Defaults to 200.'),
      ),
      wait: s.optional(
        s
          .queryWhole(0, 30)
          .description('Maximum time to wait for an event, in seconds. Defaults to 0.'),
      ),
    }),
    reply: s.object('AgentEvents', {
      events: s.list(AgentEvent, 200),
      lastId: big().description(
        'Sequence number of the last event in the list, or of the newest stored event if the list is empty. Pass this number as `after` in the next request.',
      ),
      oldestId: big().description(
        'Sequence number of the oldest stored event. The newest 200 are stored.',
      ),
      gap: s
        .boolean()
        .description('Whether events after `after` have been dropped from the ring buffer'),
    }),
  }),
});
