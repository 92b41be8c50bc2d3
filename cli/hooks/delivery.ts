import {
  type Client,
  type Execution,
  loadSenders,
  type SignatureRecipe,
} from '../../src/client/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { failed } from '../exit.js';
import { now } from '../text.js';

export interface Delivery {
  /** Path of the receiver below the address of the daemon; see `receiverPath`. */
  path: string;
  secret: string;
  /** Sent unchanged; JSON, unless the sender uses forms. */
  payload: string;
  /** Id of the sender. The same id again is a duplicate. */
  id: string;
  event?: string;
  /** Defaults to the signature of GitHub. */
  recipe?: SignatureRecipe;
  /** Address of the daemon, which some senders sign. Defaults to the requested address. */
  base?: string;
}

export interface DeliveryReceipt {
  received?: boolean;
  accepted?: boolean;
  duplicate?: boolean;
  hooks?: number;
  deliveryId?: string;
  executions?: string[];
}

export const receiverPath = (webhookPath: string): string =>
  `/api/webhooks/${encodeURIComponent(webhookPath)}`;

/** Signs the payload like its sender and sends it, without a token. ApiError 401: wrong secret. */
export const deliver = async (
  client: Client,
  delivery: Delivery,
): Promise<{ status: number; body: DeliveryReceipt }> => {
  const { PRESETS, signedRequest } = await loadSenders();
  const { path, secret, payload, base = client.url, recipe = PRESETS.github, ...named } = delivery;
  const body = Buffer.from(payload);
  const contentType = detectContentType(payload, recipe);
  const url = base + path;
  const signed = signedRequest(recipe, secret, { ...named, url, contentType, body, now: now() });
  // No token, so that the request can do no more than that of a stranger.
  return client.with({ token: undefined }).request<DeliveryReceipt>({
    method: 'POST',
    path: signed.url.slice(base.length),
    body: signed.body.toString(),
    headers: signed.headers,
  });
};

const FORM = /^[\w.%+[\]-]+=/;

/** A form or text, if it looks like one and the sender uses it; otherwise JSON. */
const detectContentType = (payload: string, { bodies }: SignatureRecipe): string => {
  const sends = (form: 'form' | 'text') => bodies?.includes(form) ?? true;
  if (sends('form') && FORM.test(payload)) return 'application/x-www-form-urlencoded';
  const isJson = /^\s*[[{]/.test(payload);
  return sends('text') && !isJson ? 'text/plain' : 'application/json';
};

const FINISHED_WITHIN_MS = 30_000;
const POLL_MS = 20;

/** Waits for the end of the execution. Throws after 30 s. */
export const waitForExecution = async (
  client: Client,
  of: { id: string; executionId: string },
): Promise<Execution> => {
  const execution = await until(async () => {
    const found = await client.hooks.execution(of);
    return ['queued', 'running'].includes(found.status) ? null : found;
  });
  if (execution === null)
    throw failed(
      `The execution ${of.executionId} did not finish within 30 s. See: adjutant hooks find ${of.executionId}`,
    );
  return execution;
};

/** Repeats a request until it finds something; null after 30 s. */
export const until = async <T>(look: () => Promise<T | null>): Promise<T | null> => {
  const end = performance.now() + FINISHED_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== null || performance.now() >= end) return found;
    await systemClock.wait(POLL_MS);
  }
};
