import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  type Execution,
  loadSenders,
  type SignatureRecipe,
} from '../../src/client/index.js';
import { failed } from '../exit.js';
import { now } from '../text.js';

/** A webhook as its sender sends it. */
export interface Delivery {
  /** Path of the receiver, below the daemon's address; see `receiverOf`. */
  path: string;
  secret: string;
  /** Sent as it is; JSON, unless the sender sends forms. */
  payload: string;
  /** The sender's own id of it: the same one again is a duplicate. */
  id: string;
  event?: string;
  /** The signature; GitHub's unless given. */
  recipe?: SignatureRecipe;
  /** The address of the daemon that some senders sign; the one that is asked unless given. */
  base?: string;
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
export const deliver = async (
  client: Client,
  delivery: Delivery,
): Promise<{ status: number; body: DeliveryReceipt }> => {
  const { PRESETS, signedRequest } = await loadSenders();
  const { path, secret, payload, base = client.url, recipe = PRESETS.github, ...named } = delivery;
  const body = Buffer.from(payload);
  const contentType = typeOf(payload, recipe);
  const url = base + path;
  const signed = signedRequest(recipe, secret, { ...named, url, contentType, body, now: now() });
  // No token: what a stranger could not send must not work here either.
  return client.with({ token: undefined }).request<DeliveryReceipt>({
    method: 'POST',
    path: signed.url.slice(base.length),
    body: signed.body.toString(),
    headers: signed.headers,
  });
};

const FORM = /^[\w.%+[\]-]+=/;

/** A form or a text, if it looks like one and the sender sends such; otherwise JSON. */
const typeOf = (payload: string, { bodies }: SignatureRecipe): string => {
  const sends = (form: 'form' | 'text') => bodies?.includes(form) ?? true;
  if (sends('form') && FORM.test(payload)) return 'application/x-www-form-urlencoded';
  const isJson = /^\s*[[{]/.test(payload);
  return sends('text') && !isJson ? 'text/plain' : 'application/json';
};

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
