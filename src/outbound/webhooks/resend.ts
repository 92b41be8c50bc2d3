import Boom from '@hapi/boom';
import type { Queue } from '../../jobs/module.js';
import { iso } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import { mint } from '../../kernel/ids.js';
import type { WebhookRow } from '../../store/tables/outbox.js';
import type { WebhookTest } from './contract.js';
import type { WebhooksStore } from './queries.js';
import { findUserWebhookRow } from './service.js';
import { type KeysDeps, sendTo } from './transport.js';
import type { WebhookDeliveryRow } from './view.js';

export interface ResendDeps extends KeysDeps {
  http: Http;
  webhooks: WebhooksStore;
  outgoing: Pick<Queue, 'added' | 'rest'>;
}

/** A response may be slow, and each test holds a connection. */
const testing = new Set<string>();

/**
 * Outside the queue, without retries. Stores nothing but a success, which ends the failing state.
 */
export const sendTestEvent = async (
  deps: ResendDeps,
  webhook: WebhookRow,
): Promise<WebhookTest> => {
  if (testing.has(webhook.id))
    throw Boom.conflict(
      'A test of this webhook is already in progress. Wait until the test has ended',
    );
  testing.add(webhook.id);
  try {
    const now = deps.clock.now();
    const { id, name } = webhook;
    const event = { type: 'webhook.test', timestamp: iso(now), data: { webhookId: id, name } };
    const sent = await sendTo(deps, webhook, {
      id: mint('event', now),
      body: JSON.stringify(event),
      signal: new AbortController().signal,
    });
    const delivered = sent.verdict === 'sent';
    if (delivered) await deps.webhooks.works(webhook);
    return {
      delivered,
      statusCode: sent.status ?? null,
      durationMs: Math.max(0, deps.clock.now() - now),
      response: sent.excerpt ?? null,
      error: sent.verdict === 'sent' ? null : sent.error,
    };
  } finally {
    testing.delete(webhook.id);
  }
};

/** Same webhook-id; earlier attempts stay recorded. */
export const resendMessage = async (
  deps: ResendDeps,
  userId: string,
  { id, deliveryId }: { id: string; deliveryId: string },
): Promise<WebhookDeliveryRow> => {
  const webhook = await findUserWebhookRow(deps, userId, id);
  const { webhooks, outgoing } = deps;
  const delivery = await webhooks.delivery(userId, id, deliveryId);
  if (!delivery) throw Boom.notFound('Delivery not found');
  if (webhook.enabled === 0)
    throw Boom.conflict('The webhook is disabled. Enable the webhook first');
  if (!(await webhooks.resend(delivery))) {
    throw Boom.conflict(
      'The delivery is queued or in progress. Only finished deliveries can be resent',
    );
  }
  // A manual resend overrides the pause after failures.
  outgoing.rest(id, 0);
  outgoing.added(id);
  return (await webhooks.delivery(userId, id, deliveryId)) ?? delivery;
};
