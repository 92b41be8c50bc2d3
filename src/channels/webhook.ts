import { createSecretKey } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { unlessShut } from '../kernel/envelope.js';
import type { Http } from '../kernel/http.js';
import { LARGE_JSON_BYTES } from '../kernel/json.js';
import { verifySignature } from '../kernel/signature.js';
import type { Transport } from '../outbound/transport.js';
import { post } from '../outbound/webhooks/post.js';
import type { InboundRequest } from '../providers/chat/platform.js';
import { parseWebhook } from '../providers/chat/webhook.js';
import type { Secret } from '../secrets/secret.js';
import { secretKey } from '../secrets/standardwebhooks.js';
import type { Store } from '../store/store.js';
import type { SendingRow } from '../store/tables/outbox.js';
import type { Proven } from './inbound.js';
import { messageOf } from './messagetext.js';

export interface WebhookDeps {
  store: Store;
  clock: Clock;
  http: Http;
  openChannelSecret(channelId: string, sealed: string): Secret;
}

const MINUTE_MS = 60_000;
const DELAYS_MS = [5000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * 60 * MINUTE_MS];

/** What verifies a new channel of this kind is sent before it is verified. */
export const VERIFICATION = 'verification';

/**
 * Takes messages to channels that are an address of the owner's: Standard Webhooks, with the
 * sending's id as `webhook-id` over all attempts, so that a repeat is known.
 */
export const createWebhookTransport = (deps: WebhookDeps): Transport => ({
  isRepeatable: true,
  delaysMs: DELAYS_MS,
  send: async (sending, signal) => {
    const channel = await findChannel(deps, sending.channel_id ?? '');
    const isMeant = channel?.verified_at || sending.kind === VERIFICATION;
    if (!channel || !isMeant) {
      return { verdict: 'failed', error: 'The channel is not linked any more' };
    }
    const body = JSON.stringify(await bodyOf(deps.store, sending));
    if (channel.key === null) return { verdict: 'failed', error: DAMAGED };
    const letter = {
      url: channel.url,
      id: sending.id,
      body,
      keys: [channel.key],
      hops: sending.hops,
    };
    return post(deps.http, letter, { now: deps.clock.now(), signal });
  },
});

/** `type` is `notification`, `message`, `approval` or `verification`; the rest is in `data`. */
const bodyOf = async (store: Store, sending: SendingRow): Promise<object> => {
  const base = { timestamp: sending.created_at, channelId: sending.channel_id };
  const content = JSON.parse(sending.content);
  if (sending.kind === VERIFICATION) return { type: VERIFICATION, ...base, data: content };
  const { title, text, question } = await messageOf(store, sending);
  if (question) return { type: 'approval', ...base, data: { title, text, ...question } };
  const type = title === null ? 'message' : 'notification';
  return { type, ...base, data: { kind: sending.kind, title, text, link: content.link ?? null } };
};

/** Who posts as a webhook channel, by its own secret. null: not proven. */
export type ProveWebhook = (request: InboundRequest) => Promise<Proven | null>;

/** Standard Webhooks: what is signed is the body, its id and its time, at most five minutes off. */
export const webhookProver =
  (deps: WebhookDeps): ProveWebhook =>
  async ({ headers, body }) => {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': mac } = headers;
    // It is parsed before it is proven, and nobody writes so much.
    if (!id || !at || !mac || body.length > LARGE_JSON_BYTES) return null;
    const said = parseWebhook(body, id);
    if (!said) return null;
    const channel = await findChannel(deps, said.channelId);
    if (!channel?.verified_at || channel.key === null) return null;
    const signed = { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': mac };
    const isProven = verifySignature(createSecretKey(channel.key), body, signed, deps.clock.now());
    if (!isProven) return null;
    return {
      kind: 'webhook',
      events: [said.event],
      answer: (_event, text) => ({ text }),
      say: async () => undefined,
      conclude: () => null,
    };
  };

const DAMAGED = 'The secret of the channel was damaged: make the channel anew';

const findChannel = async ({ store, openChannelSecret }: WebhookDeps, id: string) => {
  const row = await store.db
    .selectFrom('channels')
    .select(['url', 'secret_sealed', 'verified_at'])
    .where('kind', '=', 'webhook')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row || row.url === null || row.secret_sealed === null) return null;
  const { secret_sealed } = row;
  const secret = unlessShut(() => openChannelSecret(id, secret_sealed));
  const key = secret && secretKey(secret);
  return { url: row.url, key, verified_at: row.verified_at };
};
