import { createHmac } from 'node:crypto';
import type { Client } from '../../src/client/index.js';
import { now } from '../clock.js';
import type { HookSender } from './settings.js';

/** A webhook as its sender sends it. */
export interface Delivery {
  /** Path of the receiver, below the daemon's address; see `receiverOf`. */
  path: string;
  secret: string;
  /** JSON, sent as it is. */
  payload: string;
  /** The sender's own id of it: the same one again is a duplicate. */
  id: string;
  event?: string;
  /** The sender whose headers it bears; GitHub unless given. */
  sender?: HookSender;
  /** The secret goes in a header, for receivers that take no signature. */
  isBare?: boolean;
}

/** The receiver's reply. */
export interface DeliveryReceipt {
  received?: boolean;
  accepted?: boolean;
  duplicate?: boolean;
  hooks?: number;
  deliveryId?: string;
  executions?: string[];
}

/** Path of the receiver of a hook's signed webhooks. */
export const receiverOf = (webhookPath: string): string =>
  `/api/webhooks/${encodeURIComponent(webhookPath)}`;

/** Signs the payload as its sender does and sends it, without a token. ApiError 401: another secret. */
export const deliver = (
  client: Client,
  delivery: Delivery,
): Promise<{ status: number; body: DeliveryReceipt }> => {
  const { path, payload, sender = 'github' } = delivery;
  // No token: what a stranger could not send must not work here either.
  return client.with({ token: undefined }).request<DeliveryReceipt>({
    method: 'POST',
    path,
    body: payload,
    headers: { 'content-type': 'application/json', ...headersOf[sender](delivery) },
  });
};

type SenderHeaders = Record<string, string>;

const hmacOf = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text);
const seconds = (): number => Math.floor(now() / 1000);

/** GitHub docs: Webhook events and payloads, delivery headers. */
const github = ({ id, event, secret, payload, isBare }: Delivery): SenderHeaders => ({
  'x-github-delivery': id,
  ...(event && { 'x-github-event': event }),
  ...(isBare
    ? { 'x-webhook-secret': secret }
    : { 'x-hub-signature-256': `sha256=${hmacOf(secret, payload).digest('hex')}` }),
});

/** Headers that each sender sends besides the payload. */
const headersOf: Record<HookSender, (of: Delivery) => SenderHeaders> = {
  github,
  other: github,
  /** Gitea docs: Webhooks. It sends GitHub's headers as well. */
  gitea: (of) => ({
    ...github(of),
    'x-gitea-delivery': of.id,
    ...(of.event && { 'x-gitea-event': of.event }),
    ...(!of.isBare && { 'x-gitea-signature': hmacOf(of.secret, of.payload).digest('hex') }),
  }),
  /** GitLab docs: Webhooks. With a signing token it follows Standard Webhooks. */
  gitlab: ({ id, event, secret, payload, isBare }) => ({
    'idempotency-key': id,
    ...(event && { 'x-gitlab-event': event }),
    ...(isBare ? { 'x-gitlab-token': secret } : standard(id, secret, payload)),
  }),
  /** Stripe docs: Check the webhook signatures. */
  stripe: ({ secret, payload, isBare }): SenderHeaders => {
    if (isBare) return { 'x-webhook-secret': secret };
    const at = seconds();
    const signature = hmacOf(secret, `${at}.${payload}`).digest('hex');
    return { 'stripe-signature': `t=${at},v1=${signature}` };
  },
};

/** Standard Webhooks; its key is what stands in base64 behind `whsec_`. */
const standard = (id: string, secret: string, payload: string): SenderHeaders => {
  const at = seconds();
  const key = isSigningToken(secret)
    ? Buffer.from(secret.slice(SIGNING_TOKEN.length), 'base64')
    : secret;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${hmacOf(key, `${id}.${at}.${payload}`).digest('base64')}`,
  };
};

const SIGNING_TOKEN = 'whsec_';

/** True for a secret that a sender of Standard Webhooks made. */
export const isSigningToken = (secret: string): boolean => secret.startsWith(SIGNING_TOKEN);
