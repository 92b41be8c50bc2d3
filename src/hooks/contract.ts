import Joi from 'joi';
import { agentAction } from '../kernel/contract/agentaction.js';
import { Condition } from '../kernel/contract/condition.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';
import { Execution, executionStatus, hookAction, hookTrigger } from './executions/contract.js';
import { RefusedDeliveries } from './inbound/contract.js';
import { AwaitedToken, ConfirmedToken, SenderVerification } from './senders/contract.js';

const path = () => s.text(200).pattern(/^[^/\p{Cc}]+$/u, 'no "/" and no control characters');

const NewTriggerConfig = s.object('NewTriggerConfig', {
  webhookPath: s.optional(path()),
  webhookSecret: s.optional(s.anyText(1000).description('Write-only; without one all is refused')),
  webhookCredentialId: s.optional(s.text(80).description('A vault entry in place of the secret')),
  verify: s.optional(SenderVerification.description('The sender, if it does not sign like GitHub')),
  cron: s.optional(s.text(200).example('0 9 * * 1-5')),
  timezone: s.optional(
    s.text(64).example('Europe/Berlin').description('Time zone of `cron`. Defaults to UTC'),
  ),
  accountId: s.optional(s.text(80).description('A mail account; each of yours unless given')),
  folder: s.optional(s.text(500).description('A folder of mail; each unless given')),
});

const TriggerConfig = s.object('TriggerConfig', {
  webhookPath: s.optional(s.text(200)),
  webhookSecretSet: s.optional(s.flag()),
  webhookCredentialId: s.optional(s.id('credential')),
  verify: s.optional(SenderVerification),
  oldSecretUntil: s.optional(s.nullable(s.time())),
  oldSecretLastUsedAt: s.optional(s.nullable(s.time())),
  cron: s.optional(s.text(200)),
  timezone: s.optional(s.text(64)),
  nextRunAt: s.optional(s.nullable(s.time())),
  note: s.optional(
    s
      .nullable(s.anyText(1000))
      .description('How `cron` is read. `null` if it can be read in one way only'),
  ),
  accountId: s.optional(s.text(80)),
  folder: s.optional(s.text(500)),
});

/** An address of which the path, query and fragment may hold placeholders. */
const TEMPLATED_URL = /^https?:\/\/[^/?#\s{}\\]+(?:[/?#](?:\{\{[^{}]{1,300}\}\}|[^\s{}])*)?$/i;

const ActionConfig = s.object('ActionConfig', {
  ...agentAction,
  notifyChannels: s.optional(s.list(s.text(40), 20)),
  webhookUrl: s.optional(
    s
      .text(2000)
      .pattern(TEMPLATED_URL, 'an http or https address without placeholders before its path')
      .example('https://example.org/orders/{{webhook.body.id}}')
      .description('Address of the forward. Its path and query may hold placeholders'),
  ),
  webhookMethod: s.optional(s.oneOf('ForwardMethod', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
  webhookHeaders: s.optional(
    Joi.object<Record<string, string>>()
      .pattern(Joi.string().pattern(/^[\w-]{1,100}$/), s.anyText(4000))
      .max(50)
      .label('ForwardHeaders'),
  ),
  webhookBody: s.optional(s.anyText(100_000)),
  toolId: s.optional(s.text(100)),
  toolAction: s.optional(s.text(100)),
  toolParams: s.optional(s.record('ToolParams')),
  credentialId: s.optional(s.text(80).description('Of a forward: its bearer token')),
  templateId: s.optional(s.text(80).description('Of a pipeline')),
  params: s.optional(s.record('HookPipelineParams').description('Of a pipeline; rendered')),
});

const all = 'Of all its agents together';
const Limits = s.object('HookLimits', {
  maxSteps: s.optional(s.whole(1, 1000)),
  maxSeconds: s.optional(s.whole(1, 86_400)),
  maxTokens: s.optional(s.whole(1, 100_000_000)),
  maxAnswerTokens: s.optional(s.whole(1, 1_000_000)),
  maxCostUsd: s.optional(s.amount(0, 10_000)),
  maxDepth: s.optional(s.whole(0, 10)),
  maxAgents: s.optional(s.whole(1, 100)),
  dailyCostUsd: s.optional(s.amount(0, 1e6).description(`${all}, in USD`)),
  dailyTokens: s.optional(s.whole(0, 1e12).description(all)),
  dailySteps: s.optional(s.whole(0, 1e9).description(`${all}, asked of models`)),
});

const own = {
  name: s.text(200).example('github-issues'),
  description: s.optional(s.nullable(s.anyText(2000))),
  trigger: hookTrigger(),
  action: hookAction(),
  actionConfig: ActionConfig,
  enabled: s.optional(s.flag()),
  conditions: s.optional(s.list(Condition, 50)),
  concurrency: s.optional(s.nullable(s.whole(1, 1000))),
  cooldownMs: s.optional(s.whole(0, 31_536_000_000)),
  maxExecutions: s.optional(s.nullable(s.whole(1, 1_000_000_000))),
  limits: s.optional(s.nullable(Limits)),
};

const SHOWN = ['webhookSecretSet', 'oldSecretUntil', 'oldSecretLastUsedAt', 'nextRunAt', 'note'];
export const NewHook = s.object('NewHook', { ...own, triggerConfig: s.optional(NewTriggerConfig) });
export type NewHook = s.Static<typeof NewHook>;

export const HookChanges = s
  .ignoring(
    s.object('HookChanges', {
      ...own,
      name: s.optional(s.text(200)),
      trigger: s.optional(hookTrigger()),
      triggerConfig: s.optional(s.ignoring(NewTriggerConfig, ...SHOWN)),
      action: s.optional(hookAction()),
      actionConfig: s.optional(ActionConfig),
    }),
    ...['id', 'stats', 'createdAt', 'updatedAt'],
  )
  .min(1);
export type HookChanges = s.Static<typeof HookChanges>;

export const Hook = s.object('Hook', {
  id: s.id('hook'),
  name: s.text(200),
  description: s.nullable(s.anyText(2000)),
  trigger: hookTrigger(),
  triggerConfig: TriggerConfig,
  action: hookAction(),
  actionConfig: ActionConfig,
  enabled: s.flag(),
  conditions: s.list(Condition),
  concurrency: s.nullable(s.whole(1, 1000)),
  cooldownMs: s.whole(0, 31_536_000_000),
  maxExecutions: s.nullable(s.whole(1, 1_000_000_000)),
  limits: s.nullable(Limits),
  stats: s.object('HookStats', {
    executions: s.whole(0, Number.MAX_SAFE_INTEGER),
    lastExecutionAt: s.nullable(s.time()),
    lastStatus: s.nullable(executionStatus()),
  }),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Hook = s.Static<typeof Hook>;

export const DryRun = s.object('DryRun', {
  wouldRun: s.flag(),
  stoppedBy: s.nullable(s.anyText(1000)),
  action: hookAction(),
  rendered: s.record('Rendered').description('What the action would be given, nothing sent'),
});
export type DryRun = s.Static<typeof DryRun>;

const HookTest = s.object('HookTest', {
  payload: s.json(),
  event: s.optional(s.text(100)),
  dryRun: s.optional(s.flag().description('Render everything, connect to nothing')),
});
export type HookTest = s.Static<typeof HookTest>;

const Secret = s.object('NewSecret', {
  secret: s.text(1000).description('Shown this once'),
  oldSecretUntil: s.nullable(s.time()),
});

export const hooks = contract({
  list: endpoint.get('/api/hooks', {
    summary: 'List your hooks',
    query: pageQuery('HookQuery', {
      trigger: s.optional(hookTrigger()),
      action: s.optional(hookAction()),
    }),
    reply: pageOf('hooks', Hook),
  }),
  create: endpoint.post('/api/hooks', {
    summary: 'Create a hook',
    example: {
      name: 'example-issues',
      trigger: 'webhook',
      action: 'notify',
      triggerConfig: { webhookPath: 'example-issues', webhookSecret: 'only an example' },
      actionConfig: { notifyMessage: 'A delivery came: {{webhook.body}}' },
    },
    body: NewHook,
    reply: Hook,
    status: 201,
  }),
  get: endpoint.get('/api/hooks/{id}', { summary: 'Show a hook', reply: Hook }),
  update: endpoint.put('/api/hooks/{id}', {
    summary: 'Change what is given, keep the rest',
    example: { description: 'What the forge sends', cooldownMs: 1000 },
    body: HookChanges,
    reply: Hook,
  }),
  delete: endpoint.delete('/api/hooks/{id}', { summary: 'Delete a hook and its log' }),
  enable: endpoint.post('/api/hooks/{id}/enable', { summary: 'Let the hook fire', reply: Hook }),
  disable: endpoint.post('/api/hooks/{id}/disable', {
    summary: 'Keep the hook from firing',
    reply: Hook,
  }),
  'await-token': endpoint.post('/api/hooks/{id}/await-token', {
    summary: 'Await the token that the sender makes, for ten minutes',
    secret: true,
    reply: AwaitedToken,
  }),
  'awaited-token': endpoint.get('/api/hooks/{id}/await-token', {
    summary: 'Show the token that came',
    secret: true,
    reply: AwaitedToken,
  }),
  'confirm-token': endpoint.post('/api/hooks/{id}/confirm-token', {
    summary: 'Make the token that came the secret of the hook',
    secret: true,
    example: { token: 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl' },
    body: ConfirmedToken,
    reply: Hook,
  }),
  refused: endpoint.get('/api/hooks/{id}/refused', {
    summary: 'Deliveries to a hook of which nothing was kept, newest first, and why',
    reply: RefusedDeliveries,
  }),
  executions: endpoint.get('/api/hooks/{id}/executions', {
    summary: 'Runs of a hook, newest first',
    query: pageQuery('ExecutionQuery', { status: s.optional(executionStatus()) }),
    reply: pageOf('executions', Execution),
  }),
  execution: endpoint.get('/api/hooks/{id}/executions/{executionId}', {
    summary: 'Show one run',
    reply: Execution,
  }),
  listen: endpoint.get('/api/hooks/executions', {
    summary: 'Runs of all your hooks after one of them, oldest first',
    query: s.object('ListenQuery', {
      after: s.optional(
        s.text(80).description('Id of the last run seen; without it, the newest only'),
      ),
      limit: s.optional(s.queryWhole(1, 200)),
      wait: s.optional(s.queryWhole(0, 30).description('Seconds to wait for one')),
    }),
    reply: s.object('ExecutionsAfter', {
      executions: s.list(Execution),
      lastId: s.nullable(s.text(80)),
    }),
  }),
  test: endpoint.post('/api/hooks/{id}/test', {
    summary: 'Run the hook with a payload of yours, or show what it would do',
    example: { payload: { action: 'opened', issue: { number: 7 } }, event: 'issues', dryRun: true },
    body: HookTest,
    keepsDigits: true,
    reply: Execution,
    status: 202,
    otherReplies: { 200: DryRun },
  }),
  replay: endpoint.post('/api/hooks/{id}/executions/{executionId}/replay', {
    summary: 'Run a recorded delivery again',
    example: { force: true },
    body: s.object('Replay', {
      force: s.optional(s.flag().description('Repeat what was done, too')),
    }),
    reply: Execution,
    status: 202,
  }),
  'rotate-secret': endpoint.post('/api/hooks/{id}/rotate-secret', {
    summary: 'Make a new secret; each before verifies until its overlap ends; 0 ends all',
    unimpersonated: true,
    audit: 'hooks.rotate-secret',
    example: { overlapMinutes: 60 },
    body: s.object('Rotation', { overlapMinutes: s.optional(s.whole(0, 43_200)) }),
    reply: Secret,
    secret: true,
  }),
});
