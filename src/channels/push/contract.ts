import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const base64url = (bytes: number) =>
  Joi.string<string>()
    .pattern(/^[\w-]+$/, 'base64url')
    .length(Math.ceil((bytes * 4) / 3));

/** A browser that gets pushes. It is a channel of the kind `push`, with the same id. */
export const PushSubscription = s.object('PushSubscription', {
  id: s.id('channel'),
  name: s.text(500).description('What the browser was called when it subscribed'),
  service: s.text(500).description('Host of the push service, which belongs to the browser'),
  createdAt: s.time(),
});
export type PushSubscription = s.Static<typeof PushSubscription>;

/** The JSON of a `PushSubscription` in a browser (W3C Push API), with a name. */
const NewSubscription = s.object('NewPushSubscription', {
  endpoint: s.text(2000).description('Address at the push service, https'),
  expirationTime: s.optional(s.nullable(s.amount(0, Number.MAX_SAFE_INTEGER))),
  keys: s.object('PushKeys', {
    p256dh: base64url(65).description('Public key of the browser, an uncompressed point on P-256'),
    auth: base64url(16).description('Authentication secret (RFC 8291)'),
  }),
  name: s.optional(s.text(100)),
});
export type NewSubscription = s.Static<typeof NewSubscription>;

export const push = contract({
  key: endpoint.get('/api/push/key', {
    summary: 'The public key with which a browser subscribes to pushes (VAPID, RFC 8292)',
    reply: s.object('PushKey', { publicKey: s.text(100).description('base64url') }),
  }),
  list: endpoint.get('/api/push/subscriptions', {
    summary: 'List your browsers that get pushes',
    query: pageQuery('PushSubscriptionQuery', {}),
    reply: pageOf('subscriptions', PushSubscription),
  }),
  subscribe: endpoint.post('/api/push/subscriptions', {
    summary:
      'Have a browser get pushes: the kind and the id of each notice, and nothing of its text. At most 10',
    example: {
      endpoint: 'https://push.example.org/v1/d2f6c1a9e07b4c53',
      keys: {
        p256dh:
          'BLaZz_boeSXcbHly-OQQgNpiCM8Ov6f3GeyH9FtqV5HTjrGNKsaw8dDtRPUYBcsy_r_g1OqEcHYekuIoRkfby_w',
        auth: 'tBHItJI5svbpez7KI4CCXg',
      },
      name: 'phone',
    },
    body: NewSubscription,
    reply: PushSubscription,
    status: 201,
    audit: 'push.subscribe',
    personal: true,
  }),
  delete: endpoint.delete('/api/push/subscriptions/{id}', {
    summary: 'End the pushes to a browser',
    audit: 'push.unsubscribe',
  }),
});
