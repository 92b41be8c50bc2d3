import { createSecretKey } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { unsealOrNull } from '../kernel/envelope.js';
import type { Http } from '../kernel/http.js';
import { LARGE_JSON_BYTES } from '../kernel/json.js';
import { verifySignature } from '../kernel/signature.js';
import { post, type Transport } from '../outbound/module.js';
import { parseWebhook } from '../providers/chat/webhook.js';
import { type Secret, secretKey } from '../secrets/module.js';
import type { OutboundMessageRow } from '../store/tables/outbox.js';
import { CHANNEL_DELAYS_MS } from './delays.js';
import type { ProveWebhook } from './inbound.js';
import { addressOnPage, buildChannelMessage, type MessageTextDeps } from './messagetext.js';

export interface WebhookDeps extends MessageTextDeps {
  clock: Clock;
  http: Http;
  openChannelSecret(channelId: string, sealed: string): Secret;
}

/** Sent before the channel is verified. */
export const VERIFICATION = 'verification';

/**
 * Standard Webhooks with the message id as `webhook-id` in all attempts, so that the receiver
 * detects repeats.
 */
export const createWebhookTransport = (deps: WebhookDeps): Transport => ({
  isRepeatable: true,
  delaysMs: CHANNEL_DELAYS_MS,
  send: async (message, signal) => {
    const channel = await findChannel(deps, message.channel_id ?? '');
    const isMeant = channel?.verified_at || message.kind === VERIFICATION;
    if (!channel || !isMeant) {
      return { verdict: 'failed', error: 'The channel is no longer linked' };
    }
    const body = JSON.stringify(await buildWebhookBody(deps, message));
    if (channel.key === null) return { verdict: 'failed', error: DAMAGED };
    const { id, hops } = message;
    const content = { url: channel.url, id, body, keys: [channel.key], hops };
    return post(deps.http, content, { now: deps.clock.now(), signal });
  },
});

/** `type` is `notification`, `message`, `approval` or `verification`. */
const buildWebhookBody = async (
  deps: MessageTextDeps,
  message: OutboundMessageRow,
): Promise<object> => {
  const base = { timestamp: message.created_at, channelId: message.channel_id };
  const content = JSON.parse(message.content);
  if (message.kind === VERIFICATION) return { type: VERIFICATION, ...base, data: content };
  // The raw body: it is not read as Markdown.
  const plain = JSON.stringify({ ...content, markdown: undefined });
  const { title, text, question } = await buildChannelMessage(deps, { ...message, content: plain });
  if (question) return { type: 'approval', ...base, data: { title, text, ...question } };
  const type = title === null ? 'message' : 'notification';
  const link = addressOnPage(deps.pageAddress(), content.link) ?? content.link ?? null;
  return { type, ...base, data: { kind: message.kind, title, text, link } };
};

/** Standard Webhooks. The time may differ by five minutes. */
export const webhookProver =
  (deps: WebhookDeps): ProveWebhook =>
  async ({ headers, body }) => {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': mac } = headers;
    // Limits parsing before the verification; no user writes so much.
    if (!id || !at || !mac || body.length > LARGE_JSON_BYTES) return null;
    const parsed = parseWebhook(body, id);
    if (!parsed) return null;
    const channel = await findChannel(deps, parsed.channelId);
    if (!channel?.verified_at || channel.key === null) return null;
    const signed = { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': mac };
    const isProven = verifySignature(createSecretKey(channel.key), body, signed, deps.clock.now());
    if (!isProven) return null;
    return {
      kind: 'webhook',
      events: [parsed.event],
      reply: (_event, text) => ({ text }),
      say: async () => undefined,
      conclude: () => null,
    };
  };

const DAMAGED = 'The secret of the channel is damaged. Create the channel again';

const findChannel = async ({ store, openChannelSecret }: WebhookDeps, id: string) => {
  const row = await store.db
    .selectFrom('channels')
    .select(['url', 'secret_sealed', 'verified_at'])
    .where('kind', '=', 'webhook')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row || row.url === null || row.secret_sealed === null) return null;
  const { secret_sealed } = row;
  const secret = unsealOrNull(() => openChannelSecret(id, secret_sealed));
  const key = secret && secretKey(secret);
  return { url: row.url, key, verified_at: row.verified_at };
};
