import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const BODY_BYTES = 4 * 1024 * 1024;

const Receipt = s.object('Receipt', {
  received: s.flag(),
  accepted: s.flag(),
  hooks: s.whole(0, 1_000_000),
  deliveryId: s.id('delivery'),
  executions: s.list(s.id('execution'), 1_000_000),
});

/**
 * The reply if no hook fired: every verified hook is disabled, or all of them had this delivery
 * already.
 */
const Noted = s.object('Noted', {
  received: s.flag(),
  accepted: s.optional(s.flag()),
  hooks: s.optional(s.whole(0, 0)),
  duplicate: s.optional(s.flag()),
  deliveryId: s.optional(s.id('delivery')),
});

/**
 * The parts that both endpoints share. The example body reads the same however a tool writes JSON,
 * since each byte is signed.
 */
const receiving = {
  access: 'public',
  example: {},
  rawBytes: BODY_BYTES,
  reply: Receipt,
  status: 202,
  otherReplies: { 200: Noted },
} as const;
/** The signature of the example, made with the secret of the example of `POST /api/hooks`. */
const signed = {
  name: 'X-Hub-Signature-256',
  value: 'sha256=6ad3bdda215522d7a31738ae4f998c276898829c73f4656761e6e0a63281204c',
  about:
    '`sha256=` and the hex HMAC-SHA256 of the body as it is sent. The example fits the body `{}` ' +
    'and the hook that the example of `POST /api/hooks` makes. Its secret is known to everybody: ' +
    'it only notifies.',
};
const secretGiven = {
  name: 'X-Webhook-Secret',
  value: 'only an example',
  about: 'The hook’s secret, or a signature over the body in `X-Hub-Signature-256`.',
};

/**
 * The two endpoints for webhooks, with signatures and secrets in place of tokens (spec: Webhooks).
 */
export const receivers = contract({
  byPath: endpoint.post('/api/webhooks/{path}', {
    summary: 'Receive a signed webhook for the hooks on this path',
    exampleHeader: signed,
    ...receiving,
  }),
  incoming: endpoint.post('/api/hooks/incoming/{hookId}', {
    summary: 'Receive a webhook that carries the hook’s secret in a header',
    exampleHeader: secretGiven,
    ...receiving,
  }),
});
