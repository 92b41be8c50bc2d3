import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const base64url = (bytes: number) =>
  Joi.string<string>()
    .pattern(/^[\w-]+$/, 'base64url')
    .length(Math.ceil((bytes * 4) / 3));

/** A browser subscription. It is also a channel of kind `push` with the same id. */
export const PushSubscription = s.object('PushSubscription', {
  id: s.id('channel'),
  name: s
    .text(500)
    .description('Name of the browser, such as `Android browser`, at the time of the subscription'),
  service: s.text(500).description('Host of the push service of the browser'),
  createdAt: s.time(),
});
export type PushSubscription = s.Static<typeof PushSubscription>;

/** JSON of a browser `PushSubscription` (W3C Push API) plus a name. */
const NewSubscription = s.object('NewPushSubscription', {
  endpoint: s.text(2000).description('HTTPS URL of the subscription at the push service'),
  expirationTime: s.optional(
    s
      .nullable(s.number(0, Number.MAX_SAFE_INTEGER))
      .description(
        'Time at which the subscription expires, in milliseconds since 1970. `null` if it does not expire',
      ),
  ),
  keys: s.object('PushKeys', {
    p256dh: base64url(65).description(
      'Public key of the browser: an uncompressed P-256 point, in base64url',
    ),
    auth: base64url(16).description('Authentication secret (RFC 8291), in base64url'),
  }),
  name: s.optional(s.text(100)),
});
export type NewSubscription = s.Static<typeof NewSubscription>;

export const push = contract({
  key: endpoint.get('/api/push/key', {
    summary: 'Get the VAPID public key (RFC 8292)',
    reply: s.object('PushKey', {
      publicKey: s.text(100).description('VAPID public key, in base64url'),
    }),
  }),
  list: endpoint.get('/api/push/subscriptions', {
    summary: 'List your push subscriptions',
    query: pageQuery('PushSubscriptionQuery', {}),
    reply: createPageSchema('subscriptions', PushSubscription),
  }),
  subscribe: endpoint.post('/api/push/subscriptions', {
    summary: 'Create a push subscription for a browser',
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
    summary: 'Delete a push subscription',
    audit: 'push.unsubscribe',
  }),
});
