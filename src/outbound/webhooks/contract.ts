import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const eventType = () =>
  s.oneOf(
    'OutgoingEventType',
    'agent.completed',
    'agent.failed',
    'hook.executed',
    'hook.failed',
    'approval.requested',
    'task.completed',
    'pipeline.finished',
    '*',
  );
const events = () => s.list(eventType(), 20).min(1).unique();
const url = () =>
  s
    .text(2000)
    .uri({ scheme: ['http', 'https'] })
    .example('https://app.example.org/adjutant');
const status = () =>
  s.oneOf('WebhookDeliveryStatus', 'queued', 'sending', 'sent', 'failed', 'unknown');
const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);
const overlap = () =>
  s
    .whole(0, 43_200)
    .description('How long the secret before signs, too; 60 unless given; 0 ends every overlap');
const secret = () => s.text(200).example('whsec_').description('Write-only: `whsec_` and base64');

const rate = () =>
  s.whole(1, 6000).description('The most messages a minute; what is more waits, and none is lost');
/** Names and values are checked in full where the webhook is changed. */
const headers = <V>(label: string, value: Joi.AnySchema<V>) =>
  s.later(() =>
    Joi.object<Record<string, V>>()
      .pattern(Joi.string().max(100), value)
      .max(20)
      .description('By name, for each request to it. The values are write-only')
      .label(label),
  );

const webhook = {
  id: s.id('webhook'),
  name: s.text(200),
  url: s.text(2000),
  events: s.list(eventType()),
  enabled: s.flag(),
  secretSet: s.flag(),
  credentialId: s.nullable(s.id('credential')).description('The vault entry that is its secret'),
  oldSecretUntil: s.nullable(s.time()).description('Until then the secret before signs, too'),
  disabledReason: s.nullable(s.text(500)).description('Why it was disabled by itself'),
  ratePerMinute: s.nullable(rate()),
  headerNames: s.list(s.text(100)).description('Of its own headers, whose values are not shown'),
  stats: s.object('WebhookStats', {
    waiting: count(),
    sent: count(),
    failed: count(),
    lastDeliveryAt: s.nullable(s.time()),
    lastStatus: s.nullable(status()),
    failingSince: s.nullable(s.time()),
  }),
  createdAt: s.time(),
  updatedAt: s.time(),
};

export const OutgoingWebhook = s.object('OutgoingWebhook', webhook);
export type OutgoingWebhook = s.Static<typeof OutgoingWebhook>;

const NewWebhook = s.object('NewOutgoingWebhook', {
  name: s.text(200).example('app'),
  url: url(),
  events: events(),
  secret: s.optional(secret()),
  credentialId: s.optional(s.text(80).description('A vault entry in place of the secret')),
  enabled: s.optional(s.flag()),
  ratePerMinute: s.optional(s.nullable(rate())),
  headers: s.optional(headers('OwnHeaders', s.anyText(4000))),
});
export type NewWebhook = s.Static<typeof NewWebhook>;

const WebhookChanges = s
  .ignoring(
    s.object('OutgoingWebhookChanges', {
      name: s.optional(s.text(200)),
      url: s.optional(
        url().description('Of another origin: `headers` must have all that there are, or null'),
      ),
      events: s.optional(events()),
      credentialId: s.optional(
        s.nullable(s.text(80)).description('null: its own secret again, which rotate-secret shows'),
      ),
      enabled: s.optional(s.flag().description('true also clears disabledReason')),
      ratePerMinute: s.optional(s.nullable(rate())),
      headers: s.optional(
        headers('OwnHeaderChanges', s.nullable(s.anyText(4000))).description(
          'Those given change; null takes one away. Write-only',
        ),
      ),
    }),
    ...[
      'id',
      'secretSet',
      'headerNames',
      'oldSecretUntil',
      'disabledReason',
      'stats',
      'createdAt',
      'updatedAt',
    ],
  )
  .min(1);
export type WebhookChanges = s.Static<typeof WebhookChanges>;

const SecretRotation = s.object('WebhookSecretRotation', {
  overlapMinutes: s.optional(overlap()),
  secret: s.optional(secret()),
});
export type SecretRotation = s.Static<typeof SecretRotation>;

const shownOnce = () => s.optional(s.text(200).description('Where it was made; shown this once'));

export const WebhookDelivery = s.object('WebhookDelivery', {
  id: s.id('sending'),
  webhookId: s.text(80).description('`webhook-id` of all its attempts'),
  event: s.text(100),
  status: status(),
  payload: s.object('WebhookPayload', {
    type: s.text(100),
    timestamp: s.time(),
    data: s.record('WebhookData').description('Names, ids, status, result and links, by type'),
  }),
  attempts: s.list(
    s.object('WebhookAttempt', {
      number: s.whole(1, 1_000_000),
      at: s.time(),
      durationMs: count(),
      statusCode: s.nullable(s.whole(100, 999)),
      response: s.nullable(s.anyText(10_000)).description('How the answer begins'),
      error: s.nullable(s.anyText(10_000)),
    }),
  ),
  nextAttemptAt: s.nullable(s.time()),
  error: s.nullable(s.anyText(10_000)),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()),
});
export type WebhookDelivery = s.Static<typeof WebhookDelivery>;

const WebhookTest = s.object('WebhookTestResult', {
  delivered: s.flag(),
  statusCode: s.nullable(s.whole(100, 999)),
  durationMs: count(),
  response: s.nullable(s.anyText(10_000)).description('How the answer begins'),
  error: s.nullable(s.anyText(10_000)),
});
export type WebhookTest = s.Static<typeof WebhookTest>;

export const webhooks = contract({
  list: endpoint.get('/api/webhooks', {
    summary: 'List your outgoing webhooks',
    query: pageQuery('OutgoingWebhookQuery', {}),
    reply: pageOf('webhooks', OutgoingWebhook),
  }),
  create: endpoint.post('/api/webhooks', {
    summary: 'Create an outgoing webhook; a secret that is made is shown this once',
    audit: 'webhooks.create',
    example: {
      name: 'pager',
      url: 'https://hooks.example.org/in',
      events: ['hook.failed', 'approval.requested'],
    },
    body: NewWebhook,
    reply: s.object('CreatedOutgoingWebhook', { ...webhook, secret: shownOnce() }),
    status: 201,
    secret: true,
  }),
  get: endpoint.get('/api/webhooks/{id}', {
    summary: 'Show an outgoing webhook, but not its secret',
    reply: OutgoingWebhook,
  }),
  update: endpoint.patch('/api/webhooks/{id}', {
    summary: 'Change what is given, keep the rest',
    audit: 'webhooks.update',
    example: { events: ['*'], enabled: true },
    body: WebhookChanges,
    reply: OutgoingWebhook,
  }),
  delete: endpoint.delete('/api/webhooks/{id}', {
    summary: 'Delete an outgoing webhook and its deliveries',
    audit: 'webhooks.delete',
  }),
  deliveries: endpoint.get('/api/webhooks/{id}/deliveries', {
    summary: 'What was sent and what waits, newest first, with every attempt',
    query: pageQuery('WebhookDeliveryQuery', { status: s.optional(status()) }),
    reply: pageOf('deliveries', WebhookDelivery),
  }),
  resend: endpoint.post('/api/webhooks/{id}/deliveries/{deliveryId}/resend', {
    summary: 'Send it again, under the same webhook-id',
    reply: WebhookDelivery,
    status: 202,
  }),
  test: endpoint.post('/api/webhooks/{id}/test', {
    summary: 'Send webhook.test once, and say what came back',
    reply: WebhookTest,
  }),
  'rotate-secret': endpoint.post('/api/webhooks/{id}/rotate-secret', {
    summary: 'Make a new secret; the old one signs, too, until the overlap ends',
    unimpersonated: true,
    audit: 'webhooks.rotate-secret',
    example: { overlapMinutes: 60 },
    body: SecretRotation,
    reply: s.object('RotatedWebhookSecret', {
      secret: shownOnce(),
      oldSecretUntil: s.nullable(s.time()),
    }),
    secret: true,
  }),
});
