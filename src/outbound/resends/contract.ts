import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { failedByField, Operation, OperationPreview } from '../../kernel/contract/operation.js';
import * as s from '../../kernel/contract/schema.js';

const status = () => s.oneOf('UndeliveredStatus', 'failed', 'unknown');

const requestFields = {
  status: s.optional(
    s
      .list(status(), 2)
      .min(1)
      .unique()
      .description(
        'Statuses to resend. Defaults to `failed`. Messages with status `unknown` may have been delivered already',
      ),
  ),
  until: s.optional(s.moment().description('Latest creation time of the messages')),
  failedBy: failedByField(),
  dryRun: s.optional(
    s
      .boolean()
      .description('Whether to only list the messages that would be resent. Defaults to `false`'),
  ),
};
const since = () => s.moment().description('Earliest creation time of the messages');

const WebhookResend = s.object('FailedDeliveriesResend', {
  webhookId: s.optional(
    s.id('webhook').description('ID of the outgoing webhook. Defaults to all your webhooks'),
  ),
  since: since(),
  ...requestFields,
});
const OutboxResend = s.object('FailedSendingsResend', {
  channelId: s.optional(
    s.id('channel').description('ID of the channel. Defaults to all channels of all users'),
  ),
  since: s.optional(since()),
  ...requestFields,
});
export type ResendRequest = Omit<s.Static<typeof OutboxResend>, 'channelId'>;

export const resends = contract({
  webhooks: endpoint.post('/api/webhooks/deliveries/resend', {
    summary: 'Resend failed deliveries of outgoing webhooks',
    audit: 'webhooks.resend',
    example: { since: '2026-01-31T09:00:00.000Z' },
    body: WebhookResend,
    reply: Operation,
    status: 202,
    otherReplies: { 200: OperationPreview },
  }),
  outbox: endpoint.post('/api/admin/outbox/resend', {
    summary: 'Resend failed channel messages',
    access: 'admin',
    audit: 'outbox.resend',
    example: { since: '2026-01-31T09:00:00.000Z' },
    body: OutboxResend,
    reply: Operation,
    status: 202,
    otherReplies: { 200: OperationPreview },
  }),
});
