import Joi from 'joi';
import { agentAction } from '../kernel/contract/agentaction.js';
import { Condition } from '../kernel/contract/condition.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';
import { Execution, executionStatus, hookAction, hookTrigger } from './executions/contract.js';
import { RefusedDeliveries } from './inbound/contract.js';
import { HookReply, ReplySettings, replyStatus, templatedUrl } from './replies/contract.js';
import { AwaitedToken, ConfirmedToken, SenderVerification } from './senders/contract.js';

const path = () => s.text(200).pattern(/^[^/\p{Cc}]+$/u, 'text without "/" and control characters');

const NewTriggerConfig = s.object('NewTriggerConfig', {
  webhookPath: s.optional(path()),
  webhookSecret: s.optional(
    s
      .anyText(1000)
      .description(
        'Secret to verify deliveries. Write-only. Without a secret, all deliveries are rejected',
      ),
  ),
  webhookCredentialId: s.optional(
    s.text(80).description('ID of a vault credential to use instead of `webhookSecret`'),
  ),
  verify: s.optional(
    SenderVerification.description(
      'Sender preset or signature scheme that deliveries must match. If omitted, signatures of GitHub, Gitea, Stripe, Standard Webhooks and Svix are accepted. Other deliveries are rejected',
    ),
  ),
  cron: s.optional(
    s.text(200).example('0 9 * * 1-5').description('Cron expression of a schedule trigger'),
  ),
  timezone: s.optional(
    s
      .text(64)
      .example('Europe/Berlin')
      .description(
        'Time zone of `cron`, such as `Europe/Berlin`. Defaults to the previous time zone, then to UTC',
      ),
  ),
  accountId: s.optional(
    s
      .text(80)
      .description('ID of the mail account of an email trigger. Defaults to all of your accounts'),
  ),
  folder: s.optional(
    s
      .text(500)
      .description(
        'Mail folder of an email trigger. Must be a folder of the mail account. Defaults to all processed folders',
      ),
  ),
});

const TriggerConfig = s.object('TriggerConfig', {
  webhookPath: s.optional(s.text(200)),
  webhookSecretSet: s.optional(s.boolean().description('Whether the hook has a secret')),
  webhookCredentialId: s.optional(s.id('credential')),
  verify: s.optional(SenderVerification),
  oldSecretUntil: s.optional(
    s
      .nullable(s.time())
      .description('Expiry of the previous secret. Absent or `null` if there is none'),
  ),
  oldSecretLastUsedAt: s.optional(
    s
      .nullable(s.time())
      .description(
        'Time at which a previous secret last verified a delivery. `null` if no delivery was verified by a previous secret',
      ),
  ),
  cron: s.optional(s.text(200)),
  timezone: s.optional(s.text(64)),
  nextRunAt: s.optional(
    s
      .nullable(s.time())
      .description('Next time of the schedule. `null` if there is none, or the hook is disabled'),
  ),
  note: s.optional(
    s
      .nullable(s.anyText(1000))
      .description(
        'Explanation of an ambiguous `cron`. `null` if the expression is unambiguous. After a change of `folder`: the reason why the folder could not be checked',
      ),
  ),
  accountId: s.optional(s.text(80)),
  folder: s.optional(s.text(500)),
});

const ActionConfig = s.object('ActionConfig', {
  ...agentAction,
  notifyChannels: s.optional(s.list(s.text(40), 20)),
  webhookUrl: s.optional(
    templatedUrl()
      .example('https://example.org/orders/{{webhook.body.id}}')
      .description(
        'Target URL of a forward. Placeholders such as `{{webhook.body.id}}` are allowed in the path and query',
      ),
  ),
  webhookMethod: s.optional(s.oneOf('ForwardMethod', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
  webhookHeaders: s.optional(
    Joi.object<Record<string, string>>()
      .pattern(Joi.string().pattern(/^[\w-]{1,100}$/), s.anyText(4000))
      .max(50)
      .label('ForwardHeaders'),
  ),
  webhookBody: s.optional(
    s
      .anyText(100_000)
      .description(
        'Body of a forward. Placeholders such as `{{webhook.body.id}}` are replaced. Defaults to the delivery body',
      ),
  ),
  toolId: s.optional(s.text(100).description('ID of the skill that provides the tool')),
  toolAction: s.optional(s.text(100).description('Name of the tool')),
  toolParams: s.optional(s.record('ToolParams')),
  credentialId: s.optional(
    s.text(80).description('ID of the vault credential sent as bearer token with a forward'),
  ),
  templateId: s.optional(s.text(80).description('ID of the pipeline template to start')),
  params: s.optional(
    s
      .record('HookPipelineParams')
      .description('Pipeline parameters. Placeholders such as `{{webhook.body.id}}` are replaced'),
  ),
  reply: s.optional(
    ReplySettings.description(
      'Posts the result of the agent or pipeline to the object of the delivery, without approval',
    ),
  ),
});

const Limits = s.object('HookLimits', {
  maxSteps: s.optional(s.integer(1, 1000)),
  maxSeconds: s.optional(s.integer(1, 86_400)),
  maxTokens: s.optional(s.integer(1, 100_000_000)),
  maxAnswerTokens: s.optional(s.integer(1, 1_000_000)),
  maxCostUsd: s.optional(s.number(0, 10_000)),
  maxDepth: s.optional(s.integer(0, 10)),
  maxAgents: s.optional(s.integer(1, 100)),
  dailyCostUsd: s.optional(
    s
      .number(0, 1e6)
      .description(
        'Maximum cost per day (UTC) of all agents of the hook together, in USD. If omitted, only the limits of the user apply',
      ),
  ),
  dailyTokens: s.optional(
    s
      .integer(0, 1e12)
      .description('Maximum number of tokens per day (UTC) of all agents of the hook together'),
  ),
  dailySteps: s.optional(
    s
      .integer(0, 1e9)
      .description(
        'Maximum number of model calls per day (UTC) of all agents of the hook together',
      ),
  ),
});

const limits = () =>
  s
    .nullable(Limits)
    .description('Limits of the agents that the hook starts. `null` applies the default limits');

const own = {
  name: s.text(200).example('github-issues'),
  description: s.optional(
    s.nullable(s.anyText(2000)).description('Description of the hook. `null` if there is none'),
  ),
  trigger: hookTrigger(),
  action: hookAction(),
  actionConfig: ActionConfig,
  enabled: s.optional(s.boolean()),
  conditions: s.optional(
    s.list(Condition, 50).description('Conditions that must all hold. Otherwise no action runs'),
  ),
  concurrency: s.optional(
    s
      .nullable(s.integer(1, 1000))
      .description(
        'Maximum number of executions at once. `null` applies `ADJUTANT_HOOK_CONCURRENCY`, 2 by default',
      ),
  ),
  cooldownMs: s.optional(
    s
      .integer(0, 31_536_000_000)
      .description('Minimum time between two executions, in milliseconds. Defaults to 0'),
  ),
  maxExecutions: s.optional(
    s
      .nullable(s.integer(1, 1_000_000_000))
      .description('Maximum number of executions in total. `null` means no limit'),
  ),
  limits: s.optional(limits()),
};

const SHOWN = ['webhookSecretSet', 'oldSecretUntil', 'oldSecretLastUsedAt', 'nextRunAt', 'note'];
export const NewHook = s.object('NewHook', { ...own, triggerConfig: s.optional(NewTriggerConfig) });
export type NewHook = s.Static<typeof NewHook>;

export const HookChanges = s
  .ignoreReadOnly(
    s.object('HookChanges', {
      ...own,
      name: s.optional(s.text(200)),
      trigger: s.optional(hookTrigger()),
      triggerConfig: s.optional(s.ignoreReadOnly(NewTriggerConfig, ...SHOWN)),
      action: s.optional(hookAction()),
      actionConfig: s.optional(ActionConfig),
    }),
    ...['id', 'orgId', 'stats', 'createdAt', 'updatedAt'],
  )
  .min(1);
export type HookChanges = s.Static<typeof HookChanges>;

export const Hook = s.object('Hook', {
  id: s.id('hook'),
  orgId: s.orgId(),
  name: s.text(200),
  description: s
    .nullable(s.anyText(2000))
    .description('Description of the hook. `null` if there is none'),
  trigger: hookTrigger(),
  triggerConfig: TriggerConfig,
  action: hookAction(),
  actionConfig: ActionConfig,
  enabled: s.boolean(),
  conditions: s.list(Condition),
  concurrency: s
    .nullable(s.integer(1, 1000))
    .description(
      'Maximum number of executions at once. `null` applies `ADJUTANT_HOOK_CONCURRENCY`, 2 by default',
    ),
  cooldownMs: s.integer(0, 31_536_000_000),
  maxExecutions: s
    .nullable(s.integer(1, 1_000_000_000))
    .description('Maximum number of executions in total. `null` means no limit'),
  limits: limits(),
  stats: s.object('HookStats', {
    executions: s.integer(0, Number.MAX_SAFE_INTEGER),
    lastExecutionAt: s
      .nullable(s.time())
      .description('Time of the last execution. `null` if there was none'),
    lastStatus: s
      .nullable(executionStatus())
      .description('Status of the last execution. `null` if there was none'),
  }),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Hook = s.Static<typeof Hook>;

export const DryRun = s.object('DryRun', {
  wouldRun: s.boolean().description('Whether all conditions hold'),
  stoppedBy: s
    .nullable(s.anyText(1000))
    .description('Condition that prevents the execution. `null` if the hook would run'),
  action: hookAction(),
  rendered: s
    .record('Rendered')
    .description(
      'Input of the action, with all placeholders filled in. `fault`: the reason why the action would fail',
    ),
});
export type DryRun = s.Static<typeof DryRun>;

const HookTest = s.object('HookTest', {
  payload: s
    .json()
    .description('Body of the test delivery, or fields of an e-mail for an email trigger'),
  event: s.optional(s.text(100).description('Event name of the test delivery')),
  dryRun: s.optional(
    s
      .boolean()
      .description('Whether to render the action without running the action. Defaults to `false`'),
  ),
});
export type HookTest = s.Static<typeof HookTest>;

const Secret = s.object('NewSecret', {
  secret: s.text(1000).description('New secret, returned only once'),
  oldSecretUntil: s
    .nullable(s.time())
    .description('Expiry of the previous secret. `null` if there is none'),
});

export const hooks = contract({
  list: endpoint.get('/api/hooks', {
    shared: 'member',
    summary: 'List hooks',
    description:
      'A hook runs an action, such as starting an agent, on each webhook, scheduled time, e-mail or event that triggers it.',
    query: pageQuery('HookQuery', {
      trigger: s.optional(hookTrigger()),
      action: s.optional(hookAction()),
    }),
    reply: createPageSchema('hooks', Hook),
  }),
  create: endpoint.post('/api/hooks', {
    shared: 'admin',
    summary: 'Create a hook',
    example: {
      name: 'example-issues',
      trigger: 'webhook',
      action: 'notify',
      triggerConfig: { webhookPath: 'example-issues', webhookSecret: 'only an example' },
      actionConfig: { notifyMessage: 'Delivery received: {{webhook.body}}' },
    },
    body: NewHook,
    reply: Hook,
    status: 201,
  }),
  get: endpoint.get('/api/hooks/{id}', { shared: 'member', summary: 'Get a hook', reply: Hook }),
  update: endpoint.put('/api/hooks/{id}', {
    shared: 'admin',
    summary: 'Update a hook',
    description:
      'Omitted fields keep their values. An object such as `triggerConfig` is replaced as a whole. The secret is kept if `trigger` stays the same and the request contains no secret.',
    example: { description: 'Deliveries from GitHub', cooldownMs: 1000 },
    body: HookChanges,
    reply: Hook,
  }),
  delete: endpoint.delete('/api/hooks/{id}', {
    shared: 'admin',
    summary: 'Delete a hook and its executions',
  }),
  enable: endpoint.post('/api/hooks/{id}/enable', {
    shared: 'admin',
    summary: 'Enable a hook',
    reply: Hook,
  }),
  disable: endpoint.post('/api/hooks/{id}/disable', {
    shared: 'admin',
    summary: 'Disable a hook',
    reply: Hook,
  }),
  'await-token': endpoint.post('/api/hooks/{id}/await-token', {
    shared: 'admin',
    summary: 'Start waiting for a verification token of the sender',
    description:
      'Some senders, such as Notion, post a verification token to the URL of the hook before they send events. The hook accepts such a token for ten minutes.',
    secret: true,
    reply: AwaitedToken,
  }),
  'awaited-token': endpoint.get('/api/hooks/{id}/await-token', {
    shared: 'admin',
    summary: 'Get the received verification token',
    secret: true,
    reply: AwaitedToken,
  }),
  'confirm-token': endpoint.post('/api/hooks/{id}/confirm-token', {
    shared: 'admin',
    summary: 'Use a received verification token as secret',
    secret: true,
    example: { token: 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl' },
    body: ConfirmedToken,
    reply: Hook,
  }),
  refused: endpoint.get('/api/hooks/{id}/refused', {
    shared: 'member',
    summary: 'List rejected deliveries of a hook',
    reply: RefusedDeliveries,
  }),
  executions: endpoint.get('/api/hooks/{id}/executions', {
    shared: 'member',
    summary: 'List executions of a hook',
    query: pageQuery('ExecutionQuery', { status: s.optional(executionStatus()) }),
    reply: createPageSchema('executions', Execution),
  }),
  execution: endpoint.get('/api/hooks/{id}/executions/{executionId}', {
    shared: 'member',
    summary: 'Get an execution of a hook',
    reply: Execution,
  }),
  replies: endpoint.get('/api/hooks/{id}/replies', {
    shared: 'member',
    summary: 'List replies of a hook',
    description: 'A reply posts the result of an execution to the source of its delivery.',
    query: pageQuery('ReplyQuery', {
      status: s.optional(replyStatus()),
      executionId: s.optional(s.text(80).description('ID of the execution')),
    }),
    reply: createPageSchema('replies', HookReply),
  }),
  'resend-reply': endpoint.post('/api/hooks/{id}/replies/{replyId}/resend', {
    shared: 'admin',
    summary: 'Resend a reply of a hook',
    description: 'Only replies with the status `failed` or `unknown` can be resent.',
    audit: 'hooks.resend-reply',
    reply: HookReply,
    status: 202,
  }),
  listen: endpoint.get('/api/hooks/executions', {
    shared: 'member',
    summary: 'List new executions of all hooks',
    description:
      'Returns the executions that were created after the execution `after`, oldest first. With `wait`, the reply waits until there is one.',
    query: s.object('ListenQuery', {
      after: s.optional(
        s
          .text(80)
          .description(
            'ID of the last execution that you received. If omitted, only `lastId` is returned',
          ),
      ),
      limit: s.optional(
        s.queryWhole(1, 200).description('Maximum number of executions to return. Defaults to 50'),
      ),
      wait: s.optional(
        s
          .queryWhole(0, 30)
          .description('Maximum time to wait for an execution, in seconds. Defaults to 0'),
      ),
    }),
    reply: s.object('ExecutionsAfter', {
      executions: s.list(Execution),
      lastId: s
        .nullable(s.text(80))
        .description(
          'Value to pass as `after` in the next request. `null` if you have no executions',
        ),
    }),
  }),
  test: endpoint.post('/api/hooks/{id}/test', {
    shared: 'admin',
    summary: 'Test a hook with a sample payload',
    example: { payload: { action: 'opened', issue: { number: 7 } }, event: 'issues', dryRun: true },
    body: HookTest,
    keepsDigits: true,
    reply: Execution,
    status: 202,
    otherReplies: { 200: DryRun },
  }),
  replay: endpoint.post('/api/hooks/{id}/executions/{executionId}/replay', {
    shared: 'admin',
    summary: 'Replay an execution',
    example: { force: true },
    body: s.object('Replay', {
      force: s.optional(
        s
          .boolean()
          .description(
            'Whether to replay even if the action may already have run. Defaults to `false`',
          ),
      ),
    }),
    reply: Execution,
    status: 202,
  }),
  'rotate-secret': endpoint.post('/api/hooks/{id}/rotate-secret', {
    shared: 'admin',
    summary: 'Rotate the signing secret of a hook',
    description:
      'Returns a new secret. Earlier secrets stay valid for `overlapMinutes`. With 0, all earlier ' +
      'secrets become invalid at once.',
    unimpersonated: true,
    audit: 'hooks.rotate-secret',
    example: { overlapMinutes: 60 },
    body: s.object('Rotation', {
      overlapMinutes: s.optional(
        s
          .integer(0, 43_200)
          .description('Time for which earlier secrets stay valid, in minutes. Defaults to 60'),
      ),
    }),
    reply: Secret,
    secret: true,
  }),
});
