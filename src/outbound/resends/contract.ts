import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { failedBy, Operation, OperationPreview } from '../../kernel/contract/operation.js';
import * as s from '../../kernel/contract/schema.js';

const status = () => s.oneOf('UndeliveredStatus', 'failed', 'unknown');

const given = {
  status: s.optional(
    s
      .list(status(), 2)
      .min(1)
      .unique()
      .description('`failed` unless given; what is `unknown` may have arrived'),
  ),
  until: s.optional(s.moment()),
  failedBy: failedBy(),
  dryRun: s.optional(s.flag().description('Only list what would be sent again')),
};
const since = () => s.moment().description('Messages from then on');

const WebhookResend = s.object('FailedDeliveriesResend', {
  webhookId: s.optional(s.id('webhook').description('All your webhooks unless given')),
  since: since(),
  ...given,
});
const OutboxResend = s.object('FailedSendingsResend', {
  channelId: s.optional(s.id('channel').description('All channels of all users unless given')),
  since: s.optional(since()),
  ...given,
});
/** The request of both, without their target. */
export type ResendRequest = Omit<s.Static<typeof OutboxResend>, 'channelId'>;

export const resends = contract({
  webhooks: endpoint.post('/api/webhooks/deliveries/resend', {
    summary: 'Send again what your webhooks did not get in a time, as an operation, or list it',
    audit: 'webhooks.resend',
    example: { since: '2026-01-31T09:00:00.000Z' },
    body: WebhookResend,
    reply: Operation,
    status: 202,
    otherReplies: { 200: OperationPreview },
  }),
  outbox: endpoint.post('/api/admin/outbox/resend', {
    summary: 'Send again what the channels of all users did not get, as an operation, or list it',
    access: 'admin',
    audit: 'outbox.resend',
    example: { since: '2026-01-31T09:00:00.000Z' },
    body: OutboxResend,
    reply: Operation,
    status: 202,
    otherReplies: { 200: OperationPreview },
  }),
});
