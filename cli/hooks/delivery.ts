import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Execution } from '../../src/client/index.js';
import { failed, usageFault } from '../exit.js';
import { now } from '../text.js';
import type { HookSender } from './hook.js';

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

/** An event as its sender would send it, to try a hook with. */
export interface Sample {
  sender: HookSender;
  /** The event in the sender's own header; Stripe's stands in the payload. */
  event?: string;
  payload: object;
}

/**
 * Sample events by name, cut to what matters. Sources: GitHub and Gitea docs, Webhooks; GitLab docs,
 * Webhook events; Stripe API reference, the Event object. The payloads lie in `cli/hooks/samples/`.
 */
const samples: Record<string, Omit<Sample, 'payload'>> = {
  'github/ping': { sender: 'github', event: 'ping' },
  'github/issues.opened': { sender: 'github', event: 'issues' },
  'github/pull_request.opened': { sender: 'github', event: 'pull_request' },
  'github/push': { sender: 'github', event: 'push' },
  'gitlab/issue': { sender: 'gitlab', event: 'Issue Hook' },
  'gitlab/merge_request': { sender: 'gitlab', event: 'Merge Request Hook' },
  'gitlab/push': { sender: 'gitlab', event: 'Push Hook' },
  'gitea/issues.opened': { sender: 'gitea', event: 'issues' },
  'gitea/push': { sender: 'gitea', event: 'push' },
  'stripe/payment_intent.succeeded': { sender: 'stripe' },
  'stripe/refund.created': { sender: 'stripe' },
};

export const sampleNames = Object.keys(samples);

/** The first sample of a sender; undefined where there is none. */
export const sampleFrom = (sender: HookSender): string | undefined =>
  sampleNames.find((name) => samples[name]?.sender === sender && name !== 'github/ping');

/** Usage: there is no such sample. */
export const hookSample = (name: string): Sample => {
  const sample = samples[name];
  if (sample) return { ...sample, payload: payloadOf(name) };
  throw usageFault(`There is no sample "${name}".`, `There are: ${sampleNames.join(', ')}`);
};

const payloadOf = (name: string): object =>
  JSON.parse(readFileSync(new URL(`./samples/${name}.json`, import.meta.url), 'utf8'));

const FINISHED_WITHIN_MS = 30_000;
const POLL_MS = 20;

/** The execution when it has ended. Failed: it has not within 30 s. */
export const outcomeOf = async (
  client: Client,
  of: { id: string; executionId: string },
): Promise<Execution> => {
  const execution = await until(async () => {
    const found = await client.hooks.execution(of);
    return ['queued', 'running'].includes(found.status) ? null : found;
  });
  if (execution === null) throw failed(`The execution ${of.executionId} is not done after 30 s.`);
  return execution;
};

/** Repeats a request until it finds something; null after 30 s. */
export const until = async <T>(look: () => Promise<T | null>): Promise<T | null> => {
  const end = performance.now() + FINISHED_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== null || performance.now() >= end) return found;
    await pause(POLL_MS);
  }
};
