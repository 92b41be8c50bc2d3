import { createHmac } from 'node:crypto';
import type { Client } from '../../src/client/index.js';

/** A webhook as a forge sends it. */
export interface Delivery {
  /** Of the receiver, below the daemon's address; see `receiverOf`. */
  path: string;
  secret: string;
  /** JSON, sent as it is. */
  payload: string;
  /** The sender's own id of it: the same one again is a duplicate. */
  id: string;
  event?: string;
  /** The secret goes in a header, for receivers that take no signature. */
  isBare?: boolean;
}

/** What the receiver answers. */
export interface Receipt {
  received?: boolean;
  accepted?: boolean;
  duplicate?: boolean;
  hooks?: number;
  deliveryId?: string;
  executions?: string[];
}

/** Where a hook's signed webhooks go. */
export const receiverOf = (webhookPath: string): string =>
  `/api/webhooks/${encodeURIComponent(webhookPath)}`;

/** Signs the payload as GitHub does and sends it, without a token. ApiError 401: another secret. */
export const deliver = (
  client: Client,
  { path, secret, payload, id, event, isBare }: Delivery,
): Promise<{ status: number; body: Receipt }> => {
  const signature = createHmac('sha256', secret).update(payload).digest('hex');
  // No token: what a stranger could not send must not work here either.
  return client.with({ token: undefined }).request<Receipt>({
    method: 'POST',
    path,
    body: payload,
    headers: {
      'content-type': 'application/json',
      'x-github-delivery': id,
      ...(event && { 'x-github-event': event }),
      ...(isBare
        ? { 'x-webhook-secret': secret }
        : { 'x-hub-signature-256': `sha256=${signature}` }),
    },
  });
};
