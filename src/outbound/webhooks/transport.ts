import { iso } from '../../kernel/clock.js';
import { unsealOrNull } from '../../kernel/envelope.js';
import type { Http } from '../../kernel/http.js';
import { redactTextInWorker } from '../../kernel/redactinworker.js';
import {
  type OverlapDeps,
  parseSecretKey,
  previousSecrets,
  secretKey,
} from '../../secrets/module.js';
import type { Statement } from '../../store/engine/protocol.js';
import { selectRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { type WebhookRow, webhookTable } from '../../store/tables/outbox.js';
import type { Vault } from '../../vault/module.js';
import { EMPTY_POSTING } from '../outbox.js';
import type { SendResult, Transport } from '../transport.js';
import { type DisablingDeps, disableWebhook } from './disable.js';
import { type HeaderSealer, openHeaders } from './headers.js';
import { post } from './post.js';
import { createSecretCache } from './secretcache.js';

export interface KeysDeps extends OverlapDeps {
  vault: Vault;
  headers: HeaderSealer;
}

export interface EndpointDeps extends DisablingDeps, KeysDeps {
  http: Http;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Schedule of Standard Webhooks. */
const DELAYS_MS = [
  5000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
];
const DISABLE_AFTER_DAYS = 5;

/** Signed anew for each attempt. */
export const createEndpointTransport = (deps: EndpointDeps): Transport => {
  const opened = createSecretCache(deps.openSecret);
  const { clock, http, vault, headers } = deps;
  const keys = { clock, http, vault, headers, openSecret: opened.open };
  return {
    isRepeatable: true,
    delaysMs: DELAYS_MS,
    send: async ({ webhook, cause_id: id, content: body, hops }, signal) => {
      if (!webhook) return { verdict: 'failed', error: 'The webhook was deleted' };
      const way = () => sendTo(keys, webhook, { id, body, hops, signal });
      const sent = await opened.during(webhook.id, way);
      return finalResult(deps, webhook, sent);
    },
    failed: async ({ webhook_id }, sent) => {
      const webhook = await findWebhookRow(deps.store, webhook_id);
      if (!webhook || webhook.enabled === 0) return EMPTY_POSTING;
      if (sent.verdict === 'failed' && sent.isGone)
        return disableWebhook(deps, webhook, sent.error);
      return { ...EMPTY_POSTING, statements: [markFailing(deps, webhook.id)] };
    },
  };
};

/** Without a key nothing is sent. */
export const sendTo = async (
  deps: KeysDeps & { http: Http },
  webhook: WebhookRow,
  { signal, ...content }: { id: string; body: string; hops?: number; signal: AbortSignal },
): Promise<SendResult> => {
  const keys = await signingKeys(deps, webhook);
  if (keys.length === 0) {
    return { verdict: 'retry', error: webhook.credential_id === null ? DAMAGED : NO_KEY };
  }
  const headers = openHeaders(deps.headers, webhook);
  if (headers === null) return { verdict: 'retry', error: NO_HEADERS };
  const message = { url: webhook.url, ...content, keys, headers };
  const sent = await post(deps.http, message, { now: deps.clock.now(), signal });
  return redactHeaderValues(sent, Object.values(headers));
};

/** Shorter header values are not redacted. */
const MIN_SECRET_LENGTH = 6;

/** The response is stored. */
const redactHeaderValues = async (sent: SendResult, values: string[]): Promise<SendResult> => {
  const secrets = values.flatMap(secretsIn).filter(({ length }) => length >= MIN_SECRET_LENGTH);
  if (secrets.length === 0) return sent;
  const excerpt = sent.excerpt && (await redactTextInWorker(sent.excerpt, secrets));
  if (sent.verdict === 'sent') return { ...sent, excerpt };
  return { ...sent, excerpt, error: await redactTextInWorker(sent.error, secrets) };
};

/** The value, and the part after the scheme of `Authorization`. */
const secretsIn = (value: string): string[] => {
  const [, credentials = ''] = /^\S+ +(\S+)$/.exec(value) ?? [];
  return [value, credentials];
};

const NO_HEADERS = 'The headers of the webhook are damaged. Set the headers again';

const NO_KEY = 'The vault credential of the webhook has expired. Rotate the credential';
const DAMAGED = 'The secret of the webhook is damaged. Rotate the secret';

/** Newest first: several during overlaps, none if the secret is damaged. */
const signingKeys = async (deps: KeysDeps, webhook: WebhookRow): Promise<Buffer[]> => {
  const { openSecret, vault } = deps;
  const { id, credential_id, secret_sealed } = webhook;
  if (credential_id !== null) {
    vault.used(credential_id);
    return (await vault.liveValues(credential_id)).map(({ secret }) => secretKey(secret));
  }
  const own = unsealOrNull(() => openSecret(id, secret_sealed));
  if (own === null) return [];
  const before = previousSecrets(deps, webhook).map(({ secret }) => parseSecretKey(secret));
  return [secretKey(own), ...before];
};

/**
 * Uses the current state of the webhook, because an attempt takes time. If it was disabled, the
 * message fails. A response of a previous URL says nothing about the current one. A webhook without
 * success for days is given up.
 */
const finalResult = async (
  { store, clock }: EndpointDeps,
  { id, url }: WebhookRow,
  sent: SendResult,
): Promise<SendResult> => {
  if (sent.verdict === 'sent') return sent;
  const webhook = await findWebhookRow(store, id);
  if (!webhook) return sent;
  const { status, excerpt, error } = sent;
  if (webhook.enabled === 0) {
    return { status, excerpt, verdict: 'failed', error: `${error}; the webhook is disabled` };
  }
  if (webhook.url !== url) {
    return { status, excerpt, verdict: 'retry', error: `${error} (at the previous URL)` };
  }
  const { failing_since: since } = webhook;
  if (since === null || clock.now() - Date.parse(since) < DISABLE_AFTER_DAYS * DAY_MS) return sent;
  const end = `No delivery has succeeded for ${DISABLE_AFTER_DAYS} days, since ${since}`;
  return { ...sent, verdict: 'failed', error: `${end}. Last error: ${error}`, isGone: true };
};

/** Later failures do not change it. */
const markFailing = ({ store: { db }, clock }: EndpointDeps, id: string): Statement => {
  const change = db.updateTable('webhooks').set({ failing_since: iso(clock.now()) });
  return statement(change.where('id', '=', id).where('failing_since', 'is', null));
};

const findWebhookRow = async ({ db }: Store, id: string | null): Promise<WebhookRow | null> => {
  if (id === null) return null;
  const row = await selectRows(db, webhookTable, { id }).executeTakeFirst();
  return row ?? null;
};
