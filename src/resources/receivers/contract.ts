import { contract } from '../../kernel/endpoint.js';
import { flag, id, list, object, optional, whole } from '../../kernel/schema.js';

const BODY_BYTES = 4 * 1024 * 1024;

const Receipt = object('Receipt', {
  received: flag(),
  accepted: flag(),
  hooks: whole(0, 1_000_000),
  deliveryId: id('delivery'),
  executions: list(id('execution'), 1_000_000),
});

/** Nothing fired: every verified hook is disabled, or they all had this delivery already. */
const Noted = object('Noted', {
  received: flag(),
  accepted: optional(flag()),
  hooks: optional(whole(0, 0)),
  duplicate: optional(flag()),
  deliveryId: optional(id('delivery')),
});

/** The two doors for webhooks: signatures and secrets in place of tokens (spec: Webhooks). */
export const receivers = contract({
  byPath: {
    method: 'POST',
    path: '/api/webhooks/{path}',
    summary: 'Receive a signed webhook for the hooks on this path',
    access: 'public',
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
    rawBytes: BODY_BYTES,
    reply: Receipt,
    status: 202,
    answers: { 200: Noted },
  },
});
