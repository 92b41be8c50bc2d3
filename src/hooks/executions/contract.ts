import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

export const hookTrigger = () =>
  s.oneOf(
    'Trigger',
    ...(['webhook', 'schedule', 'agent_completed', 'agent_failed', 'approval_requested'] as const),
    'email',
  );
export const hookAction = () =>
  s.oneOf('Action', 'spawn_agent', 'notify', 'webhook', 'execute_tool', 'start_pipeline');
export const executionStatus = () =>
  s.oneOf('ExecutionStatus', 'queued', 'running', 'success', 'error', 'skipped', 'interrupted');

export const Execution = s.object('Execution', {
  id: s.id('execution'),
  orgId: s.orgId(),
  hookId: s.id('hook'),
  deliveryId: s
    .nullable(s.id('delivery'))
    .description('ID of the webhook delivery. `null` if no delivery started the execution'),
  status: executionStatus(),
  trigger: hookTrigger(),
  action: hookAction(),
  triggerContext: s.object('TriggerContext', {
    webhook: s.optional(
      s.object('WebhookContext', {
        path: s.anyText(200),
        method: s.text(10),
        headers: s.record('WebhookHeaders'),
        query: s.optional(
          s
            .record('WebhookQuery')
            .description('Query parameters of the received request. Absent if there are none'),
        ),
        body: s.json().description('Payload. Text and XML are a string'),
      }),
    ),
    agent: s.optional(s.record('AgentContext')),
    approval: s.optional(s.record('ApprovalContext')),
    email: s.optional(s.record('EmailContext')),
    scheduledAt: s.optional(s.time()),
    event: s
      .nullable(s.anyText(200))
      .description(
        'Event type. For the trigger `webhook`, the type that the sender reported, or `null` if the sender reported none',
      ),
    receivedAt: s.time(),
  }),
  result: s.json(),
  error: s.nullable(s.anyText(100_000)).description('Error message. `null` without an error'),
  attempts: s.integer(0, 1_000_000),
  agentId: s
    .nullable(s.id('agent'))
    .description('ID of the agent that the execution spawned. `null` if there is none'),
  replayOf: s
    .nullable(s.id('execution'))
    .description('ID of the original execution. `null` if this execution is not a replay'),
  durationMs: s
    .nullable(s.integer(0, Number.MAX_SAFE_INTEGER))
    .description(
      'Duration in milliseconds. `null` until the execution ends, and if it was never started',
    ),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()).description('Start time. `null` if not started'),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
});
export type Execution = s.Static<typeof Execution>;

/** In characters. */
export const MAX_ERROR_LENGTH = 500;

export const ExecutionSummary = s.object('ExecutionSummary', {
  id: s.id('execution'),
  orgId: s.orgId(),
  hookId: s.id('hook'),
  hookName: s.text(200),
  status: executionStatus(),
  trigger: hookTrigger(),
  action: hookAction(),
  event: s
    .nullable(s.anyText(200))
    .description(
      'Event type. For the trigger `webhook`, the type that the sender reported, or `null` if the sender reported none',
    ),
  error: s.nullable(
    s
      .anyText(MAX_ERROR_LENGTH)
      .description('First 500 characters of the error. `null` without an error'),
  ),
  attempts: s.integer(0, 1_000_000),
  agentId: s
    .nullable(s.id('agent'))
    .description('ID of the agent that the execution spawned. `null` if there is none'),
  replayOf: s
    .nullable(s.id('execution'))
    .description('ID of the original execution. `null` if this execution is not a replay'),
  createdAt: s.time(),
  startedAt: s.nullable(s.time()).description('Start time. `null` if not started'),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
});
export type ExecutionSummary = s.Static<typeof ExecutionSummary>;

export const executions = contract({
  list: endpoint.get('/api/hooks/executions/recent', {
    shared: 'member',
    summary: 'List executions of all hooks, newest first',
    query: pageQuery('RecentQuery', {
      status: s.optional(executionStatus()),
      hookId: s.optional(s.text(80).description('ID of the hook. Defaults to all hooks')),
    }),
    reply: createPageSchema('executions', ExecutionSummary, 'RecentExecutions'),
  }),
  get: endpoint.get('/api/hooks/executions/{id}', {
    shared: 'member',
    summary: 'Get an execution of any hook by its ID',
    reply: Execution,
  }),
});
