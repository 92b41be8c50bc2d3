import { unsealOrNull } from '../../kernel/envelope.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Http } from '../../kernel/http.js';
import {
  EMPTY_POSTING,
  isNeverDelayed,
  type SendResult,
  type Transport,
} from '../../outbound/module.js';
import type { OutboundMessageRow } from '../../store/tables/outbox.js';
import { CHANNEL_DELAYS_MS } from '../delays.js';
import type { PushStore } from './queries.js';
import type { PushKeys } from './service.js';

export interface PushTransportDeps {
  push: PushStore;
  http: Http;
  unsealChannelSecret(channelId: string, sealed: string): string;
  keyPair(): Promise<{ publicKey: string; privateKey: string }>;
  /** HTTPS or mailto URL for the push service. */
  contact(): string;
}

/** How long the push service keeps a push. An approval expires after 15 minutes. */
const KEPT_SECONDS = 24 * 3600;
const APPROVAL_SECONDS = 15 * 60;
/** Page paths with only a kind and an id. Others are not pushed. */
const PATH = /^(\/(?!api\/)[a-z]{1,20}\/[\w-]{1,80})(?:#.*)?$/;

/**
 * Web Push (RFC 8030), encrypted (RFC 8291) and signed with the VAPID key (RFC 8292). A push
 * replaces an undelivered one for the same notification, so it can be repeated.
 */
export const createPushTransport = (deps: PushTransportDeps): Transport => ({
  isRepeatable: true,
  delaysMs: CHANNEL_DELAYS_MS,
  send: async (message, signal) => {
    const found = await deps.push.find(message.user_id, message.channel_id ?? '');
    if (!found?.url || found.secret_sealed === null) {
      return { verdict: 'failed', error: 'The browser is no longer subscribed' };
    }
    const { id, url, secret_sealed } = found;
    const keys = unsealOrNull(() => deps.unsealChannelSecret(id, secret_sealed));
    if (!keys) return { verdict: 'failed', error: 'The keys are damaged. Subscribe again' };
    return post(deps, { url, keys: JSON.parse(keys), message }, signal);
  },
  failed: async ({ user_id, channel_id }, sent) => {
    if (sent.verdict !== 'failed' || !sent.isGone) return EMPTY_POSTING;
    return { ...EMPTY_POSTING, statements: deps.push.end(user_id, channel_id ?? '') };
  },
});

interface AddressedPush {
  url: string;
  keys: PushKeys;
  message: OutboundMessageRow;
}

const post = async (
  { http, keyPair, contact }: PushTransportDeps,
  { url, keys, message }: AddressedPush,
  signal: AbortSignal,
): Promise<SendResult> => {
  const { default: webPush } = await import('web-push');
  const isApproval = message.kind === 'approval_requested';
  const { headers, body } = webPush.generateRequestDetails(
    { endpoint: url, keys },
    buildPushPayload(message),
    {
      vapidDetails: { subject: contact(), ...(await keyPair()) },
      TTL: isApproval ? APPROVAL_SECONDS : KEPT_SECONDS,
      urgency: isNeverDelayed(message.kind) ? 'high' : 'normal',
      // RFC 8030, section 5.4: at most 32 characters of base64url.
      topic: message.cause_id.replace(/\W/g, '').slice(-32),
      contentEncoding: 'aes128gcm',
    },
  );
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  try {
    const reply = await http.request({
      method: 'POST',
      url,
      headers: Object.fromEntries(texts),
      body: body ?? '',
      // Only the status matters.
      enoughBytes: 0,
      isExact: true,
      signal,
    });
    return toSendResult(reply.status, reply.headers['retry-after']);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    const isRefused = !(error instanceof HttpFailure);
    return { verdict: isRefused ? 'failed' : 'retry', error: error.message };
  }
};

/** Kind and id, and the path if it contains no more. */
const buildPushPayload = ({ cause_id: id, kind, content }: OutboundMessageRow): string => {
  const [, link] = PATH.exec(JSON.parse(content).link ?? '') ?? [];
  return JSON.stringify({ kind, id, link });
};

const toSendResult = (status: number, retryAfter: unknown): SendResult => {
  if (status >= 200 && status < 300) return { verdict: 'sent', receipt: null, status };
  const error = `The push service returned ${status}`;
  if (status === 404 || status === 410) return { verdict: 'failed', error, status, isGone: true };
  if (status !== 429 && status < 500) return { verdict: 'failed', error, status };
  const seconds = Number(retryAfter);
  return { verdict: 'retry', error, status, ...(seconds > 0 && { afterMs: seconds * 1000 }) };
};
