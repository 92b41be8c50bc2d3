import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const BODY_BYTES = 4 * 1024 * 1024;

const Receipt = s.object('Receipt', {
  received: s.boolean(),
  accepted: s.boolean(),
  hooks: s.integer(0, 1_000_000),
  deliveryId: s.id('delivery'),
  executions: s.list(s.id('execution'), 1_000_000),
});

/**
 * Reply if no hook fired: all verified hooks are disabled, the delivery is a duplicate, or the
 * request is a handshake.
 */
const Noted = s.textOr(
  'Noted',
  s.anyText(1000),
  s.object('NotedDelivery', {
    received: s.optional(s.boolean()),
    challenge: s.optional(
      s.anyText(1000).description("Response to Slack's URL verification request"),
    ),
    plainToken: s.optional(s.text(100).description("Response to Zoom's URL validation request")),
    encryptedToken: s.optional(
      s.text(64).description("HMAC-SHA256 of `plainToken`, in Zoom's response"),
    ),
    accepted: s.optional(s.boolean()),
    hooks: s.optional(s.integer(0, 0)),
    duplicate: s.optional(s.boolean()),
    deliveryId: s.optional(s.id('delivery')),
  }),
);

/** The example body is `{}`, because every tool serializes it to the same signed bytes. */
const receiving = {
  access: 'public',
  example: {},
  rawBytes: BODY_BYTES,
  ignoresQuery: true,
  reply: Receipt,
  status: 202,
  otherReplies: { 200: Noted },
} as const;
/** Made with the secret of the example of `POST /api/hooks`. */
const signed = {
  name: 'X-Hub-Signature-256',
  value: 'sha256=6ad3bdda215522d7a31738ae4f998c276898829c73f4656761e6e0a63281204c',
  about:
    '`sha256=` and the HMAC-SHA256 of the request body, in hex. The example matches the body `{}` ' +
    'and the hook of the `POST /api/hooks` example, whose secret is public.',
};
const secretHeader = {
  name: 'X-Webhook-Secret',
  value: 'only an example',
  about: 'Secret of the hook. Alternative: a body signature in `X-Hub-Signature-256`.',
};

export const receivers = contract({
  byPath: endpoint.post('/api/webhooks/{path}', {
    summary: 'Receive a signed webhook',
    exampleHeader: signed,
    ...receiving,
  }),
  incoming: endpoint.post('/api/hooks/incoming/{hookId}', {
    summary: 'Receive a webhook authenticated by a secret header',
    exampleHeader: secretHeader,
    ...receiving,
  }),
  tryAddress: endpoint.get('/api/webhooks/{path}/try', {
    summary: 'Answer a sender that checks whether the URL exists',
    description:
      'Some senders, such as Trello and Mandrill, send a request without an event to the webhook URL before the first delivery. ' +
      '`HEAD` and `GET /api/webhooks/{path}` do the same if they have no `Authorization` header. No hook runs.',
    access: 'public',
    ignoresQuery: true,
    reply: Noted,
  }),
  challenge: endpoint.get('/api/webhooks/{path}/challenge', {
    summary: 'Reply to a WebSub verification request',
    description: '`GET /api/webhooks/{path}?hub.mode=…` is equivalent.',
    access: 'public',
    query: s.object('HubChallenge', {
      'hub.mode': s.optional(
        s.anyText(20).description('Requested action of the hub: `subscribe` or `unsubscribe`'),
      ),
      'hub.verify_token': s.optional(
        s
          .anyText(1000)
          .description('Verification token of the subscription: the secret of the hook'),
      ),
      'hub.challenge': s.optional(
        s.anyText(1000).description('Text of the hub that the reply must contain'),
      ),
      'hub.topic': s.optional(s.anyText(2000)),
      'hub.lease_seconds': s.optional(s.anyText(20)),
    }),
    reply: s.anyText(1000),
    produces: 'text/plain',
  }),
});
