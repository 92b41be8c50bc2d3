import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Execution } from '../../src/client/index.js';
import { failed } from '../exit.js';

const FINISHED_WITHIN_MS = 30_000;
const POLL_MS = 20;

/** A webhook as a forge sends it. */
export interface Delivery {
  /** The hook's path. */
  path: string;
  secret: string;
  event: string;
  /** The sender's own id of it: the same one again is a duplicate. */
  id: string;
  payload: object;
}

/** What the receiver answers. */
export interface Receipt {
  received?: boolean;
  accepted?: boolean;
  duplicate?: boolean;
  deliveryId?: string;
  executions?: string[];
}

/** Signs the payload as GitHub does and sends it, without a token. ApiError 401: another secret. */
export const deliver = (
  client: Client,
  { path, secret, event, id, payload }: Delivery,
): Promise<{ status: number; body: Receipt }> => {
  const body = JSON.stringify(payload);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return client.with({ token: undefined }).request<Receipt>({
    method: 'POST',
    path: `/api/webhooks/${encodeURIComponent(path)}`,
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    },
  });
};

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

/** What a look finds, tried again while it finds null; null after 30 s. */
export const until = async <T>(look: () => Promise<T | null>): Promise<T | null> => {
  const end = performance.now() + FINISHED_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== null || performance.now() >= end) return found;
    await pause(POLL_MS);
  }
};
