import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const status = () => s.oneOf('SendingStatus', 'queued', 'sending', 'sent', 'failed', 'unknown');
const target = () => s.text(40).description('The kind of the channel; `endpoint` for a webhook');
const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);

const message = {
  id: s.id('sending'),
  status: status(),
  kind: s.text(100).description('Of the notification or the event'),
  target: target(),
  channelId: s.nullable(s.id('channel')),
  webhookId: s.nullable(s.id('webhook')),
  attempts: count(),
  nextAttemptAt: s.nullable(s.time()),
  receipt: s.nullable(s.anyText(2000)).description('What the platform calls the message'),
  error: s.nullable(s.anyText(10_000)),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()),
};

/** A message as admins see it: with its owner and its target, without its content. */
export const OutboundMessageView = s.object('Sending', {
  ...message,
  userId: s.id('user'),
  username: s.text(50),
});
export type OutboundMessageView = s.Static<typeof OutboundMessageView>;

export const MessageAttempt = s.object('SendingAttempt', {
  number: s.whole(1, 1_000_000),
  at: s.time(),
  durationMs: count(),
  verdict: s.oneOf('SendingVerdict', 'sent', 'retry', 'failed', 'unknown'),
  statusCode: s.nullable(s.whole(100, 999)),
  error: s.nullable(s.anyText(10_000)),
});

/** A message as its owner sees it. */
export const NoticeMessage = s.object('NoticeSending', {
  ...message,
  log: s.list(MessageAttempt),
});
export type NoticeMessage = s.Static<typeof NoticeMessage>;

export const outbox = contract({
  list: endpoint.get('/api/admin/outbox', {
    summary: 'What is sent to channels and webhooks, of all users; `failed` are the dead letters',
    access: 'admin',
    audit: 'outbox.list',
    query: pageQuery('OutboxQuery', {
      status: s.optional(status()),
      kind: s.optional(s.text(100)),
      channelId: s.optional(s.text(80)),
      webhookId: s.optional(s.text(80)),
    }),
    reply: pageOf('sendings', OutboundMessageView),
  }),
  resend: endpoint.post('/api/admin/outbox/{id}/resend', {
    summary: 'Send once more what failed, or what may not have arrived',
    access: 'admin',
    audit: 'outbox.resend',
    reply: OutboundMessageView,
    status: 202,
  }),
  notice: endpoint.get('/api/notifications/{id}/sendings', {
    summary: 'Where a notification of yours went, with every attempt',
    reply: s.object('NoticeSendings', { sendings: s.list(NoticeMessage) }),
  }),
});
