import { BadUrl, EgressRefused } from '../../kernel/egress.js';
import { HttpFailure, type PartialReply } from '../../kernel/failure.js';
import { hopHeader } from '../../kernel/hops.js';
import type { Http } from '../../kernel/http.js';
import { computeSignatures } from '../../secrets/module.js';
import type { SendResult } from '../transport.js';

export interface EndpointMessage {
  url: string;
  /** Constant over attempts, for duplicate detection. */
  id: string;
  body: string;
  keys: Buffer[];
  headers?: Record<string, string>;
  /** How often the cause passed through this daemon. */
  hops?: number;
}

const TIMEOUT_MS = 15_000;
const EXCERPT = 1000;
const LIMITS = {
  firstByteMs: TIMEOUT_MS,
  silenceMs: TIMEOUT_MS,
  totalMs: TIMEOUT_MS,
  maxBytes: 1024 * 1024,
  // An endpoint that accepted must not get the message again because its response is huge.
  enoughBytes: 4 * EXCERPT,
  redirects: 0,
};
const GONE = 410;
const DAY_MS = 24 * 3600 * 1000;

/** Standard Webhooks: 2xx is success, 410 means never again, everything else is retried. */
export const post = async (
  http: Http,
  { url, id, body, keys, headers: own, hops }: EndpointMessage,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<SendResult> => {
  const timestamp = Math.floor(now / 1000);
  const headers = {
    ...own,
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': computeSignatures(keys, { id, timestamp, body }),
    ...hopHeader(hops),
  };
  try {
    const reply = await http.request({ method: 'POST', url, headers, body, signal, ...LIMITS });
    return verdictOn(reply, now);
  } catch (error) {
    if (error instanceof EgressRefused || error instanceof BadUrl) {
      return { verdict: 'failed', error: error.message };
    }
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return verdictOnBroken(error, now);
  }
};

/** A rejection counts from its first line, a success must be complete. */
const verdictOnBroken = ({ begun, message: error }: HttpFailure, now: number): SendResult => {
  if (!begun) return { verdict: 'retry', error };
  if (!isSuccess(begun)) return verdictOn(begun, now);
  return { ...responseSummary(begun), verdict: 'retry', error };
};

const verdictOn = (reply: PartialReply, now: number): SendResult => {
  const { status } = reply;
  const text = responseSummary(reply);
  if (isSuccess(reply)) return { ...text, verdict: 'sent', receipt: null };
  if (status === GONE) {
    return { ...text, verdict: 'failed', error: '410: the endpoint is gone', isGone: true };
  }
  const afterMs = retryAfterMs(reply.headers['retry-after'], now);
  return {
    ...text,
    verdict: 'retry',
    error: formatStatusError(status),
    ...(afterMs > 0 && { afterMs }),
  };
};

const isSuccess = ({ status }: PartialReply): boolean => status >= 200 && status < 300;

const responseSummary = ({ status, body }: PartialReply) => ({
  status,
  excerpt: body.toString('utf8').slice(0, EXCERPT),
});

const formatStatusError = (status: number): string =>
  status >= 300 && status < 400
    ? `${status}: redirects are not followed`
    : `${status} from the endpoint`;

/**
 * `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), in milliseconds, at most a day. 0 if
 * absent.
 */
const retryAfterMs = (header: string | undefined, now: number): number => {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? 0 : Math.min(DAY_MS, Math.max(0, ms));
};
