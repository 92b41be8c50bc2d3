import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
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
    .url(2000)
    .pattern(/^https?:\/\/\S+$/, 'an http or https URL')
    .meta({ format: 'uri' })
    .example('https://app.example.org/adjutant');
const status = () =>
  s.oneOf('WebhookDeliveryStatus', 'queued', 'sending', 'sent', 'failed', 'unknown');
const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);
const overlap = () =>
  s
    .integer(0, 43_200)
    .description(
      'Time during which the previous secret also signs, in minutes. Defaults to 60. 0 ' +
        'revokes all previous secrets at once',
    );
const secret = () =>
  s
    .text(200)
    .example('whsec_')
    .description('Signing secret: `whsec_` followed by base64. Write-only. Generated if omitted');

const rate = () =>
  s
    .integer(1, 6000)
    .description(
      'Maximum number of messages per minute. Further messages are delayed. `null` means no limit',
    );
/** Checked completely in headers.ts. */
const headers = <V>(label: string, value: Joi.AnySchema<V>) =>
  s.lazy(() =>
    Joi.object<Record<string, V>>()
      .pattern(Joi.string().max(100), value)
      .max(20)
      .description(
        'Additional HTTP headers that Adjutant sends with each delivery, by name. Values are write-only',
      )
      .label(label),
  );

const webhook = {
  id: s.id('webhook'),
  orgId: s.orgId(),
  name: s.text(200),
  url: s.text(2000),
  events: s.list(eventType()),
  enabled: s.boolean(),
  secretSet: s.boolean(),
  credentialId: s
    .nullable(s.id('credential'))
    .description(
      'ID of the vault credential that provides the signing secret. `null` if the webhook has its own secret',
    ),
  oldSecretUntil: s
    .nullable(s.time())
    .description('Time until which the previous secret also signs. `null` if there is no overlap'),
  disabledReason: s
    .nullable(s.text(500))
    .description(
      'Reason why the webhook was disabled automatically. `null` if the webhook was not disabled automatically',
    ),
  ratePerMinute: s.nullable(rate()),
  headerNames: s
    .list(s.text(100))
    .description(
      'Names of the additional headers of each delivery. Their values are never returned',
    ),
  stats: s.object('WebhookStats', {
    waiting: count().description('Number of queued messages'),
    sent: count(),
    failed: count(),
    lastDeliveryAt: s
      .nullable(s.time())
      .description('Time at which the newest message was created. `null` if there was none'),
    lastStatus: s
      .nullable(status())
      .description('Status of the newest message. `null` if there was none'),
    failingSince: s
      .nullable(s.time())
      .description(
        'Time of the first failure since the last success. `null` if no delivery has failed since then',
      ),
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
  credentialId: s.optional(
    s
      .text(80)
      .description('ID of a vault credential of type `webhook_secret` to use instead of `secret`'),
  ),
  enabled: s.optional(s.boolean()),
  ratePerMinute: s.optional(s.nullable(rate())),
  headers: s.optional(headers('OwnHeaders', s.anyText(4000))),
});
export type NewWebhook = s.Static<typeof NewWebhook>;

const WebhookChanges = s
  .ignoreReadOnly(
    s.object('OutgoingWebhookChanges', {
      name: s.optional(s.text(200)),
      url: s.optional(
        url().description(
          'Target URL. If the origin of the URL changes, `headers` must contain every existing header with a value or `null`',
        ),
      ),
      events: s.optional(events()),
      credentialId: s.optional(
        s
          .nullable(s.text(80))
          .description(
            'ID of the vault credential that provides the signing secret. `null` switches back to the own secret of the webhook',
          ),
      ),
      enabled: s.optional(
        s
          .boolean()
          .description('Whether the webhook is enabled. Setting true also clears `disabledReason`'),
      ),
      ratePerMinute: s.optional(s.nullable(rate())),
      headers: s.optional(
        headers('OwnHeaderChanges', s.nullable(s.anyText(4000))).description(
          'Headers to change, by name. `null` removes a header. Values are write-only',
        ),
      ),
    }),
    ...[
      'id',
      'orgId',
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

const shownOnce = (description: string) => s.optional(s.text(200).description(description));

export const WebhookDelivery = s.object('WebhookDelivery', {
  id: s.id('sending'),
  webhookId: s.text(80).description('Value of the `webhook-id` header, the same for all attempts'),
  event: s.text(100),
  status: status(),
  payload: s.object('WebhookPayload', {
    type: s.text(100),
    timestamp: s.time(),
    data: s.record('WebhookData').description('Event data. The fields depend on the event type'),
  }),
  attempts: s.list(
    s.object('WebhookAttempt', {
      number: s.integer(1, 1_000_000),
      at: s.time(),
      durationMs: count(),
      statusCode: s
        .nullable(s.integer(100, 999))
        .description('HTTP status of the response. `null` without a response'),
      response: s
        .nullable(s.anyText(10_000))
        .description('Beginning of the response body. `null` without a response'),
      error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
    }),
  ),
  nextAttemptAt: s
    .nullable(s.time())
    .description('Time of the next attempt. `null` if there is none'),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
});
export type WebhookDelivery = s.Static<typeof WebhookDelivery>;

const WebhookTest = s.object('WebhookTestResult', {
  delivered: s.boolean().description('Whether the endpoint returned a 2xx status'),
  statusCode: s
    .nullable(s.integer(100, 999))
    .description('HTTP status of the response. `null` without a response'),
  durationMs: count(),
  response: s
    .nullable(s.anyText(10_000))
    .description('Beginning of the response body. `null` without a response'),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
});
export type WebhookTest = s.Static<typeof WebhookTest>;

export const webhooks = contract({
  list: endpoint.get('/api/webhooks', {
    shared: 'member',
    summary: 'List your outgoing webhooks',
    query: pageQuery('OutgoingWebhookQuery', {}),
    reply: createPageSchema('webhooks', OutgoingWebhook),
  }),
  create: endpoint.post('/api/webhooks', {
    shared: 'admin',
    summary: 'Create an outgoing webhook',
    audit: 'webhooks.create',
    example: {
      name: 'pager',
      url: 'https://hooks.example.org/in',
      events: ['hook.failed', 'approval.requested'],
    },
    body: NewWebhook,
    reply: s.object('CreatedOutgoingWebhook', {
      ...webhook,
      secret: shownOnce(
        'Generated secret, shown only once. Absent if the request contained `secret` or `credentialId`',
      ),
    }),
    status: 201,
    secret: true,
  }),
  get: endpoint.get('/api/webhooks/{id}', {
    shared: 'member',
    summary: 'Get an outgoing webhook',
    reply: OutgoingWebhook,
  }),
  update: endpoint.patch('/api/webhooks/{id}', {
    shared: 'admin',
    summary: 'Update an outgoing webhook',
    audit: 'webhooks.update',
    example: { events: ['*'], enabled: true },
    body: WebhookChanges,
    reply: OutgoingWebhook,
  }),
  delete: endpoint.delete('/api/webhooks/{id}', {
    shared: 'admin',
    summary: 'Delete an outgoing webhook',
    description: 'The deliveries of the webhook, including queued ones, are deleted as well.',
    audit: 'webhooks.delete',
  }),
  deliveries: endpoint.get('/api/webhooks/{id}/deliveries', {
    shared: 'member',
    summary: 'List deliveries of an outgoing webhook',
    query: pageQuery('WebhookDeliveryQuery', { status: s.optional(status()) }),
    reply: createPageSchema('deliveries', WebhookDelivery),
  }),
  resend: endpoint.post('/api/webhooks/{id}/deliveries/{deliveryId}/resend', {
    shared: 'admin',
    summary: 'Resend a delivery of an outgoing webhook',
    description:
      'Sends the stored message again with the same `webhook-id`. Earlier attempts stay recorded.',
    reply: WebhookDelivery,
    status: 202,
  }),
  test: endpoint.post('/api/webhooks/{id}/test', {
    shared: 'admin',
    summary: 'Send a test event to an outgoing webhook',
    reply: WebhookTest,
  }),
  'rotate-secret': endpoint.post('/api/webhooks/{id}/rotate-secret', {
    shared: 'admin',
    summary: 'Rotate the secret of an outgoing webhook',
    unimpersonated: true,
    audit: 'webhooks.rotate-secret',
    example: { overlapMinutes: 60 },
    body: SecretRotation,
    reply: s.object('RotatedWebhookSecret', {
      secret: shownOnce(
        'Generated secret, shown only once. Absent if the request contained a secret',
      ),
      oldSecretUntil: s
        .nullable(s.time())
        .description(
          'Time until which the previous secret stays valid. `null` if the previous secret is no longer valid',
        ),
    }),
    secret: true,
  }),
});
