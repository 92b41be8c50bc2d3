import { contract } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import {
  anyText,
  flag,
  id,
  ignoring,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const eventType = () =>
  oneOf(
    'OutgoingEventType',
    'agent.completed',
    'agent.failed',
    'hook.executed',
    'hook.failed',
    'approval.requested',
    'task.completed',
    'pipeline.finished',
    '*',
  ).description('Nothing sends task.completed and pipeline.finished yet');
const events = () => list(eventType(), 20).min(1).unique();
const url = () =>
  text(2000)
    .uri({ scheme: ['http', 'https'] })
    .example('https://app.example.org/adjutant');
const status = () =>
  oneOf('WebhookDeliveryStatus', 'queued', 'sending', 'sent', 'failed', 'unknown');
const count = () => whole(0, Number.MAX_SAFE_INTEGER);
const overlap = () =>
  whole(0, 43_200).description(
    'How long the secret before signs, too; 60 unless given; 0 ends every overlap',
  );
const secret = () => text(200).example('whsec_').description('Write-only: `whsec_` and base64');

const webhook = {
  id: id('webhook'),
  name: text(200),
  url: text(2000),
  events: list(eventType()),
  enabled: flag(),
  secretSet: flag(),
  credentialId: nullable(id('credential')).description('The vault entry that is its secret'),
  oldSecretUntil: nullable(time()).description('Until then the secret before signs, too'),
  disabledReason: nullable(text(500)).description('Why it was disabled by itself'),
  stats: object('WebhookStats', {
    waiting: count(),
    sent: count(),
    failed: count(),
    lastDeliveryAt: nullable(time()),
    lastStatus: nullable(status()),
    failingSince: nullable(time()),
  }),
  createdAt: time(),
  updatedAt: time(),
};

const OutgoingWebhook = object('OutgoingWebhook', webhook);
export type OutgoingWebhook = Static<typeof OutgoingWebhook>;

const NewWebhook = object('NewOutgoingWebhook', {
  name: text(200).example('app'),
  url: url(),
  events: events(),
  secret: optional(secret()),
  credentialId: optional(text(80).description('A vault entry in place of the secret')),
  enabled: optional(flag()),
});
export type NewWebhook = Static<typeof NewWebhook>;

const WebhookChanges = ignoring(
  object('OutgoingWebhookChanges', {
    name: optional(text(200)),
    url: optional(url()),
    events: optional(events()),
    credentialId: optional(
      nullable(text(80)).description('null: its own secret again, which rotate-secret shows'),
    ),
    enabled: optional(flag().description('true also clears disabledReason')),
  }),
  ...['id', 'secretSet', 'oldSecretUntil', 'disabledReason', 'stats', 'createdAt', 'updatedAt'],
).min(1);
export type WebhookChanges = Static<typeof WebhookChanges>;

const SecretRotation = object('WebhookSecretRotation', {
  overlapMinutes: optional(overlap()),
  secret: optional(secret()),
});
export type SecretRotation = Static<typeof SecretRotation>;

const shownOnce = () => optional(text(200).description('Where it was made; shown this once'));

const WebhookDelivery = object('WebhookDelivery', {
  id: id('sending'),
  webhookId: text(80).description('`webhook-id` of all its attempts'),
  event: text(100),
  status: status(),
  payload: object('WebhookPayload', {
    type: text(100),
    timestamp: time(),
    data: record('WebhookData').description('Names, ids, status, result and links, by type'),
  }),
  attempts: list(
    object('WebhookAttempt', {
      number: whole(1, 1_000_000),
      at: time(),
      durationMs: count(),
      statusCode: nullable(whole(100, 999)),
      response: nullable(anyText(10_000)).description('How the answer begins'),
      error: nullable(anyText(10_000)),
    }),
  ),
  nextAttemptAt: nullable(time()),
  error: nullable(anyText(10_000)),
  createdAt: time(),
  finishedAt: nullable(time()),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

const WebhookTest = object('WebhookTestResult', {
  delivered: flag(),
  statusCode: nullable(whole(100, 999)),
  durationMs: count(),
  response: nullable(anyText(10_000)).description('How the answer begins'),
  error: nullable(anyText(10_000)),
});
export type WebhookTest = Static<typeof WebhookTest>;

export const webhooks = contract({
  list: {
    method: 'GET',
    path: '/api/webhooks',
    summary: 'List your outgoing webhooks',
    query: pageQuery('OutgoingWebhookQuery', {}),
    reply: pageOf('webhooks', OutgoingWebhook),
  },
  create: {
    method: 'POST',
    path: '/api/webhooks',
    summary: 'Create an outgoing webhook; a secret that is made is shown this once',
    audit: 'webhooks.create',
    example: {
      name: 'pager',
      url: 'https://hooks.example.org/in',
      events: ['hook.failed', 'approval.requested'],
    },
    body: NewWebhook,
    reply: object('CreatedOutgoingWebhook', { ...webhook, secret: shownOnce() }),
    status: 201,
    secret: true,
  },
  get: {
    method: 'GET',
    path: '/api/webhooks/{id}',
    summary: 'Show an outgoing webhook, but not its secret',
    reply: OutgoingWebhook,
  },
  update: {
    method: 'PATCH',
    path: '/api/webhooks/{id}',
    summary: 'Change what is given, keep the rest',
    audit: 'webhooks.update',
    example: { events: ['*'], enabled: true },
    body: WebhookChanges,
    reply: OutgoingWebhook,
  },
  delete: {
    method: 'DELETE',
    path: '/api/webhooks/{id}',
    summary: 'Delete an outgoing webhook and its deliveries',
    audit: 'webhooks.delete',
  },
  deliveries: {
    method: 'GET',
    path: '/api/webhooks/{id}/deliveries',
    summary: 'What was sent and what waits, newest first, with every attempt',
    query: pageQuery('WebhookDeliveryQuery', { status: optional(status()) }),
    reply: pageOf('deliveries', WebhookDelivery),
  },
  resend: {
    method: 'POST',
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/resend',
    summary: 'Send it again, under the same webhook-id',
    reply: WebhookDelivery,
    status: 202,
  },
  test: {
    method: 'POST',
    path: '/api/webhooks/{id}/test',
    summary: 'Send webhook.test once, and say what came back',
    reply: WebhookTest,
  },
  'rotate-secret': {
    method: 'POST',
    path: '/api/webhooks/{id}/rotate-secret',
    summary: 'Make a new secret; the old one signs, too, until the overlap ends',
    unimpersonated: true,
    audit: 'webhooks.rotate-secret',
    example: { overlapMinutes: 60 },
    body: SecretRotation,
    reply: object('RotatedWebhookSecret', {
      secret: shownOnce(),
      oldSecretUntil: nullable(time()),
    }),
    secret: true,
  },
});
