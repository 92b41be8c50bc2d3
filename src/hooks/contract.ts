import Joi from 'joi';
import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  amount,
  anyText,
  flag,
  id,
  ignoring,
  json,
  list,
  nullable,
  object,
  oneOf,
  optional,
  queryWhole,
  record,
  type Static,
  text,
  time,
  whole,
} from '../kernel/contract/schema.js';

const trigger = () =>
  oneOf('Trigger', 'webhook', 'schedule', 'agent_completed', 'agent_failed', 'approval_requested');
const action = () => oneOf('Action', 'spawn_agent', 'notify', 'webhook', 'execute_tool');
const executionStatus = () =>
  oneOf('ExecutionStatus', 'queued', 'running', 'success', 'error', 'skipped', 'interrupted');
const path = () => text(200).pattern(/^[^/\p{Cc}]+$/u, 'no "/" and no control characters');

const NewTriggerConfig = object('NewTriggerConfig', {
  webhookPath: optional(path()),
  webhookSecret: optional(anyText(1000).description('Write-only; without one all is refused')),
  webhookCredentialId: optional(text(80).description('A vault entry in place of the secret')),
  cron: optional(text(200).example('0 9 * * 1-5')),
  timezone: optional(text(64).example('Europe/Berlin')),
});

const TriggerConfig = object('TriggerConfig', {
  webhookPath: optional(text(200)),
  webhookSecretSet: optional(flag()),
  webhookCredentialId: optional(id('credential')),
  oldSecretUntil: optional(nullable(time())),
  oldSecretLastUsedAt: optional(nullable(time())),
  cron: optional(text(200)),
  timezone: optional(text(64)),
  nextRunAt: optional(nullable(time())),
});

const ActionConfig = object('ActionConfig', {
  agentPrompt: optional(anyText(100_000)),
  agentTopic: optional(text(100)),
  agentModel: optional(text(200)),
  agentTools: optional(list(text(100), 50).description('Tools it may use without asking')),
  orchestrated: optional(flag()),
  notifyOwner: optional(flag()),
  notifyMessage: optional(anyText(20_000)),
  notifyChannels: optional(list(text(40), 20)),
  webhookUrl: optional(text(2000).uri({ scheme: ['http', 'https'] })),
  webhookMethod: optional(oneOf('ForwardMethod', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
  webhookHeaders: optional(
    Joi.object<Record<string, string>>()
      .pattern(Joi.string().pattern(/^[\w-]{1,100}$/), anyText(4000))
      .max(50)
      .label('ForwardHeaders'),
  ),
  webhookBody: optional(anyText(100_000)),
  toolId: optional(text(100)),
  toolAction: optional(text(100)),
  toolParams: optional(record('ToolParams')),
  credentialId: optional(text(80).description('Of a forward: its bearer token')),
});

const words = ['equals', 'not_equals', 'contains', 'matches', 'exists'] as const;

const Condition = object('Condition', {
  field: text(300).example('webhook.body.action'),
  operator: oneOf('Operator', ...words, 'gt', 'lt', 'in'),
  value: optional(json()),
});

const Limits = object('HookLimits', {
  maxSteps: optional(whole(1, 1000)),
  maxSeconds: optional(whole(1, 86_400)),
  maxTokens: optional(whole(1, 100_000_000)),
  maxAnswerTokens: optional(whole(1, 1_000_000)),
  maxCostUsd: optional(amount(0, 10_000)),
  ...{ maxDepth: optional(whole(0, 10)), maxAgents: optional(whole(1, 100)) },
  dailyCostUsd: optional(amount(0, 1e6).description('Of all its agents together, in USD')),
  dailyTokens: optional(whole(0, 1e12).description('Of all its agents together')),
  dailySteps: optional(whole(0, 1e9).description('Of all its agents together, asked of models')),
});

const own = {
  name: text(200).example('github-issues'),
  description: optional(nullable(anyText(2000))),
  trigger: trigger(),
  action: action(),
  actionConfig: ActionConfig,
  enabled: optional(flag()),
  conditions: optional(list(Condition, 50)),
  concurrency: optional(nullable(whole(1, 1000))),
  cooldownMs: optional(whole(0, 31_536_000_000)),
  maxExecutions: optional(nullable(whole(1, 1_000_000_000))),
  limits: optional(nullable(Limits)),
};

const told = ['webhookSecretSet', 'oldSecretUntil', 'oldSecretLastUsedAt', 'nextRunAt'];
const givenTrigger = ignoring(NewTriggerConfig, ...told);

export const NewHook = object('NewHook', { ...own, triggerConfig: optional(NewTriggerConfig) });
export type NewHook = Static<typeof NewHook>;

export const HookChanges = ignoring(
  object('HookChanges', {
    ...own,
    name: optional(text(200)),
    trigger: optional(trigger()),
    triggerConfig: optional(givenTrigger),
    action: optional(action()),
    actionConfig: optional(ActionConfig),
  }),
  ...['id', 'stats', 'createdAt', 'updatedAt'],
).min(1);
export type HookChanges = Static<typeof HookChanges>;

export const Hook = object('Hook', {
  id: id('hook'),
  name: text(200),
  description: nullable(anyText(2000)),
  trigger: trigger(),
  triggerConfig: TriggerConfig,
  action: action(),
  actionConfig: ActionConfig,
  enabled: flag(),
  conditions: list(Condition),
  concurrency: nullable(whole(1, 1000)),
  cooldownMs: whole(0, 31_536_000_000),
  maxExecutions: nullable(whole(1, 1_000_000_000)),
  limits: nullable(Limits),
  stats: object('HookStats', {
    executions: whole(0, Number.MAX_SAFE_INTEGER),
    lastExecutionAt: nullable(time()),
    lastStatus: nullable(executionStatus()),
  }),
  createdAt: time(),
  updatedAt: time(),
});
export type Hook = Static<typeof Hook>;

export const Execution = object('Execution', {
  id: id('execution'),
  hookId: id('hook'),
  deliveryId: nullable(id('delivery')),
  status: executionStatus(),
  trigger: trigger(),
  action: action(),
  triggerContext: object('TriggerContext', {
    webhook: optional(
      object('WebhookContext', {
        path: anyText(200),
        method: text(10),
        headers: record('WebhookHeaders'),
        body: json().description('The payload'),
      }),
    ),
    agent: optional(record('AgentContext')),
    approval: optional(record('ApprovalContext')),
    scheduledAt: optional(time()),
    event: nullable(anyText(200)),
    receivedAt: time(),
  }),
  result: json(),
  error: nullable(anyText(100_000)),
  attempts: whole(0, 1_000_000),
  agentId: nullable(id('agent')),
  replayOf: nullable(id('execution')),
  durationMs: nullable(whole(0, Number.MAX_SAFE_INTEGER)),
  createdAt: time(),
  startedAt: nullable(time()),
  finishedAt: nullable(time()),
});
export type Execution = Static<typeof Execution>;

export const DryRun = object('DryRun', {
  wouldRun: flag(),
  stoppedBy: nullable(anyText(1000)),
  action: action(),
  rendered: record('Rendered').description('What the action would be given, nothing sent'),
});
export type DryRun = Static<typeof DryRun>;

const Secret = object('NewSecret', {
  secret: text(1000).description('Shown this once'),
  oldSecretUntil: nullable(time()),
});

export const hooks = contract({
  list: {
    method: 'GET',
    path: '/api/hooks',
    summary: 'List your hooks',
    query: pageQuery('HookQuery', { trigger: optional(trigger()), action: optional(action()) }),
    reply: pageOf('hooks', Hook),
  },
  create: {
    method: 'POST',
    path: '/api/hooks',
    summary: 'Create a hook',
    example: {
      ...{ name: 'example-issues', trigger: 'webhook', action: 'notify' },
      triggerConfig: { webhookPath: 'example-issues', webhookSecret: 'only an example' },
      actionConfig: { notifyMessage: 'A delivery came: {{webhook.body}}' },
    },
    body: NewHook,
    reply: Hook,
    status: 201,
  },
  get: { method: 'GET', path: '/api/hooks/{id}', summary: 'Show a hook', reply: Hook },
  update: {
    method: 'PUT',
    path: '/api/hooks/{id}',
    summary: 'Change what is given, keep the rest',
    example: { description: 'What the forge sends', cooldownMs: 1000 },
    body: HookChanges,
    reply: Hook,
  },
  delete: { method: 'DELETE', path: '/api/hooks/{id}', summary: 'Delete a hook and its log' },
  enable: {
    method: 'POST',
    path: '/api/hooks/{id}/enable',
    summary: 'Let the hook fire',
    reply: Hook,
  },
  disable: {
    method: 'POST',
    path: '/api/hooks/{id}/disable',
    summary: 'Keep the hook from firing',
    reply: Hook,
  },
  executions: {
    method: 'GET',
    path: '/api/hooks/{id}/executions',
    summary: 'Runs of a hook, newest first',
    query: pageQuery('ExecutionQuery', { status: optional(executionStatus()) }),
    reply: pageOf('executions', Execution),
  },
  execution: {
    method: 'GET',
    path: '/api/hooks/{id}/executions/{executionId}',
    summary: 'Show one run',
    reply: Execution,
  },
  listen: {
    method: 'GET',
    path: '/api/hooks/executions',
    summary: 'Runs of all your hooks after one of them, oldest first',
    query: object('ListenQuery', {
      after: optional(text(80).description('Id of the last run seen; without it, the newest only')),
      limit: optional(queryWhole(1, 200)),
      wait: optional(queryWhole(0, 30).description('Seconds to wait for one')),
    }),
    reply: object('ExecutionsAfter', { executions: list(Execution), lastId: nullable(text(80)) }),
  },
  test: {
    method: 'POST',
    path: '/api/hooks/{id}/test',
    summary: 'Run the hook with a payload of yours, or show what it would do',
    example: { payload: { action: 'opened', issue: { number: 7 } }, event: 'issues', dryRun: true },
    body: object('HookTest', {
      payload: json(),
      event: optional(text(100)),
      dryRun: optional(flag().description('Render everything, connect to nothing')),
    }),
    reply: Execution,
    status: 202,
    answers: { 200: DryRun },
  },
  replay: {
    method: 'POST',
    path: '/api/hooks/{id}/executions/{executionId}/replay',
    summary: 'Run a recorded delivery again',
    example: { force: true },
    body: object('Replay', { force: optional(flag().description('Repeat what was done, too')) }),
    reply: Execution,
    status: 202,
  },
  'rotate-secret': {
    method: 'POST',
    path: '/api/hooks/{id}/rotate-secret',
    summary: 'Make a new secret; each before verifies until its overlap ends; 0 ends all',
    unimpersonated: true,
    audit: 'hooks.rotate-secret',
    example: { overlapMinutes: 60 },
    body: object('Rotation', { overlapMinutes: optional(whole(0, 43_200)) }),
    reply: Secret,
    secret: true,
  },
});
