import { contract } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import {
  anyText,
  id,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const status = () => oneOf('SendingStatus', 'queued', 'sending', 'sent', 'failed', 'unknown');
const target = () => text(40).description('The kind of the channel; `endpoint` for a webhook');
const count = () => whole(0, Number.MAX_SAFE_INTEGER);

const sending = {
  id: id('sending'),
  status: status(),
  kind: text(100).description('Of the notification or the event'),
  target: target(),
  channelId: nullable(id('channel')),
  webhookId: nullable(id('webhook')),
  attempts: count(),
  nextAttemptAt: nullable(time()),
  receipt: nullable(anyText(2000)).description('What the platform calls the message'),
  error: nullable(anyText(10_000)),
  createdAt: time(),
  finishedAt: nullable(time()),
};

/** A message as admins see it: with its owner and its target, without its content. */
export const SendingView = object('Sending', {
  ...sending,
  userId: id('user'),
  username: text(50),
});
export type SendingView = Static<typeof SendingView>;

/** A message as its owner sees it. */
export const NoticeSending = object('NoticeSending', {
  ...sending,
  log: list(
    object('SendingAttempt', {
      number: whole(1, 1_000_000),
      at: time(),
      durationMs: count(),
      verdict: oneOf('SendingVerdict', 'sent', 'retry', 'failed', 'unknown'),
      statusCode: nullable(whole(100, 999)),
      error: nullable(anyText(10_000)),
    }),
  ),
});
export type NoticeSending = Static<typeof NoticeSending>;

export const outbox = contract({
  list: {
    method: 'GET',
    path: '/api/admin/outbox',
    summary: 'What is sent to channels and webhooks, of all users; `failed` are the dead letters',
    access: 'admin',
    audit: 'outbox.list',
    query: pageQuery('OutboxQuery', {
      status: optional(status()),
      kind: optional(text(100)),
      channelId: optional(text(80)),
      webhookId: optional(text(80)),
    }),
    reply: pageOf('sendings', SendingView),
  },
  resend: {
    method: 'POST',
    path: '/api/admin/outbox/{id}/resend',
    summary: 'Send once more what failed, or what may not have arrived',
    access: 'admin',
    audit: 'outbox.resend',
    reply: SendingView,
    status: 202,
  },
  notice: {
    method: 'GET',
    path: '/api/notifications/{id}/sendings',
    summary: 'Where a notification of yours went, with every attempt',
    reply: object('NoticeSendings', { sendings: list(NoticeSending) }),
  },
});
