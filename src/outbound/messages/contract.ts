import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const status = () =>
  s
    .oneOf('SendingStatus', 'queued', 'sending', 'sent', 'failed', 'unknown')
    .description(
      'Status of the message. `unknown`: the reply was lost, so the message may have been delivered',
    );
const target = () =>
  s
    .text(40)
    .description(
      'Kind of the recipient: the kind of the channel, `endpoint` for an outgoing webhook, or `reply` for the source of a delivery',
    );
const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);

const message = {
  id: s.id('sending'),
  status: status(),
  kind: s.text(100).description('Kind of the notification, type of the event, or `reply`'),
  target: target(),
  channelId: s
    .nullable(s.id('channel'))
    .description('ID of the channel. `null` for other recipients'),
  webhookId: s
    .nullable(s.id('webhook'))
    .description('ID of the outgoing webhook. `null` for other recipients'),
  hookId: s
    .nullable(s.id('hook'))
    .description('ID of the hook that replies. `null` for other recipients'),
  attempts: count().description('Number of attempts'),
  nextAttemptAt: s
    .nullable(s.time())
    .description('Time of the next attempt. `null` if there is none'),
  receipt: s
    .nullable(s.anyText(2000))
    .description(
      'Identifier that the platform assigned to the message. `null` if the platform returned no identifier',
    ),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
};

export const OutboundMessageView = s.object('Sending', {
  ...message,
  userId: s.id('user'),
  username: s.text(50),
});
export type OutboundMessageView = s.Static<typeof OutboundMessageView>;

export const MessageAttempt = s.object('SendingAttempt', {
  number: s.integer(1, 1_000_000),
  at: s.time(),
  durationMs: count(),
  verdict: s
    .oneOf('SendingVerdict', 'sent', 'retry', 'failed', 'unknown')
    .description('Result of the attempt'),
  statusCode: s
    .nullable(s.integer(100, 999))
    .description('HTTP status of the response. `null` without a response'),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
});

export const NoticeMessage = s.object('NoticeSending', {
  ...message,
  log: s.list(MessageAttempt),
});
export type NoticeMessage = s.Static<typeof NoticeMessage>;

export const outbox = contract({
  list: endpoint.get('/api/admin/outbox', {
    summary: 'List outbound messages of all users',
    access: 'admin',
    audit: 'outbox.list',
    query: pageQuery('OutboxQuery', {
      status: s.optional(status()),
      kind: s.optional(s.text(100)),
      channelId: s.optional(s.text(80)),
      webhookId: s.optional(s.text(80)),
    }),
    reply: createPageSchema('sendings', OutboundMessageView),
  }),
  resend: endpoint.post('/api/admin/outbox/{id}/resend', {
    summary: 'Resend an outbound message',
    access: 'admin',
    audit: 'outbox.resend',
    reply: OutboundMessageView,
    status: 202,
  }),
  notice: endpoint.get('/api/notifications/{id}/sendings', {
    summary: 'List the channel messages of a notification',
    reply: s.object('NoticeSendings', { sendings: s.list(NoticeMessage) }),
  }),
});
