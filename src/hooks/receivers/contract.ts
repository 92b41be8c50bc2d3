import { contract } from '../../kernel/contract/endpoint.js';
import { flag, id, list, object, optional, whole } from '../../kernel/contract/schema.js';

const BODY_BYTES = 4 * 1024 * 1024;

const Receipt = object('Receipt', {
  received: flag(),
  accepted: flag(),
  hooks: whole(0, 1_000_000),
  deliveryId: id('delivery'),
  executions: list(id('execution'), 1_000_000),
});

/**
 * The reply if no hook fired: every verified hook is disabled, or all of them had this delivery
 * already.
 */
const Noted = object('Noted', {
  received: flag(),
  accepted: optional(flag()),
  hooks: optional(whole(0, 0)),
  duplicate: optional(flag()),
  deliveryId: optional(id('delivery')),
});

/**
 * The example body. It reads the same however a tool writes JSON, since each byte is signed. The
 * signature is made with the secret of the example of `POST /api/hooks`.
 */
const example = {};
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
  byPath: {
    method: 'POST',
    path: '/api/webhooks/{path}',
    summary: 'Receive a signed webhook for the hooks on this path',
    access: 'public',
    example,
    exampleHeader: signed,
    rawBytes: BODY_BYTES,
    reply: Receipt,
    status: 202,
    answers: { 200: Noted },
  },
  incoming: {
    method: 'POST',
    path: '/api/hooks/incoming/{hookId}',
    summary: 'Receive a webhook that carries the hook’s secret in a header',
    access: 'public',
    example,
    exampleHeader: secretGiven,
    rawBytes: BODY_BYTES,
    reply: Receipt,
    status: 202,
    answers: { 200: Noted },
  },
});
