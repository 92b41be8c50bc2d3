import { iso } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import type { Statement } from '../../store/engine/protocol.js';
import { statement } from '../../store/store.js';
import type { WebhookRow } from '../../store/tables/outbox.js';
import type { SendResult, Transport, Unsent } from '../transport.js';
import { type DisablingDeps, disableWebhook } from './disable.js';
import { NOTHING } from './filter.js';
import { post } from './post.js';
import { findWebhookRow } from './row.js';
import { openedTogether } from './secretcache.js';
import { type KeysDeps, keysOf } from './signingkeys.js';

export interface EndpointDeps extends DisablingDeps, KeysDeps {
  http: Http;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The delays after each failure: the schedule of Standard Webhooks. */
const DELAYS_MS = [
  5000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
];
const PATIENCE_DAYS = 5;

/**
 * Creates the transport that sends events to the endpoints of outgoing webhooks, signed anew for
 * each attempt.
 */
export const createEndpointTransport = (deps: EndpointDeps): Transport => {
  const opened = openedTogether(deps.openSecret);
  const sending = { ...deps, openSecret: opened.open };
  return {
    isRepeatable: true,
    delaysMs: DELAYS_MS,
    send: async ({ webhook, cause_id: id, content: body, hops }, signal) => {
      if (!webhook) return { verdict: 'failed', error: 'The webhook was deleted' };
      const way = () => sendTo(sending, webhook, { id, body, hops, signal });
      const sent = await opened.during(webhook.id, way);
      return judged(deps, webhook, sent);
    },
    failed: async ({ webhook_id }, sent) => {
      const webhook = await findWebhookRow(deps.store, webhook_id);
      if (!webhook || webhook.enabled === 0) return NOTHING;
      if (sent.verdict === 'failed' && sent.isGone)
        return disableWebhook(deps, webhook, sent.error);
      return { ...NOTHING, statements: [failingSince(deps, webhook.id)] };
    },
  };
};

/** Makes one attempt. Without a key nothing is sent. */
export const sendTo = async (
  deps: Pick<EndpointDeps, 'http'> & KeysDeps,
  webhook: WebhookRow,
  { signal, ...letter }: { id: string; body: string; hops?: number; signal: AbortSignal },
): Promise<SendResult> => {
  const keys = await keysOf(deps, webhook);
  if (keys.length === 0) {
    return { verdict: 'retry', error: webhook.credential_id === null ? DAMAGED : NO_KEY };
  }
  return post(deps.http, { url: webhook.url, ...letter, keys }, { now: deps.clock.now(), signal });
};

const NO_KEY = 'The vault entry that is its secret has expired: rotate it';
const DAMAGED = 'Its secret was damaged: rotate it';

/** Judges a result by the webhook as it is now, because an attempt takes time. */
const judged = async (
  deps: EndpointDeps,
  { id, url }: WebhookRow,
  sent: SendResult,
): Promise<SendResult> => {
  if (sent.verdict === 'sent') return sent;
  const webhook = await findWebhookRow(deps.store, id);
  if (!webhook) return sent;
  if (webhook.enabled === 0) return withoutMore(sent);
  return webhook.url === url ? unlessTooLong(deps, webhook, sent) : atOldAddress(sent);
};

/**
 * Returns the result without a retry: a message under way when its webhook was disabled ends like
 * those that waited.
 */
const withoutMore = ({ status, excerpt, error }: Unsent): SendResult => ({
  ...{ status, excerpt, verdict: 'failed', error: `${error}; the webhook is disabled` },
});

/**
 * Returns the result as a retry: the reply of a former address says nothing about the present one,
 * and the message goes there next.
 */
const atOldAddress = ({ status, excerpt, error }: Unsent): SendResult => ({
  ...{ status, excerpt, verdict: 'retry', error: `${error}, at the address that it had` },
});

/** Gives a webhook up that has failed for this many days without a success. */
const unlessTooLong = (
  { clock }: EndpointDeps,
  webhook: WebhookRow,
  sent: SendResult,
): SendResult => {
  const { failing_since: since } = webhook;
  if (sent.verdict === 'sent' || since === null) return sent;
  if (clock.now() - Date.parse(since) < PATIENCE_DAYS * DAY_MS) return sent;
  const error = `Nothing has arrived for ${PATIENCE_DAYS} days, since ${since}; the last time: ${sent.error}`;
  return { ...sent, verdict: 'failed', error, isGone: true };
};

/**
 * Builds the statement that records the first failure since the last success; a later failure does
 * not change it.
 */
const failingSince = ({ store: { db }, clock }: EndpointDeps, id: string): Statement => {
  const change = db.updateTable('webhooks').set({ failing_since: iso(clock.now()) });
  return statement(change.where('id', '=', id).where('failing_since', 'is', null));
};
