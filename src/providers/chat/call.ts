import { BadUrl, EgressRefused, hostAndPort } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import { isRecord, parsedJson } from '../../kernel/jsonvalue.js';
import { redactInWorker, redactTextInWorker } from '../../kernel/redactinworker.js';
import { MIN_PIECE_LENGTH } from '../../kernel/secretforms.js';
import type { PlatformCheck, PlatformReach, PlatformRefusal, PlatformSent } from './platform.js';

export interface PlatformCall {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Must be public unless it is under the base URL of an admin. */
  url: string;
  headers?: Record<string, string>;
  body?: object;
  /** Whether the base URL, too, must be public, because its user is no admin. */
  isPublic?: boolean;
  /** For platforms that report errors in the body. */
  refusalIn?: RefusalIn;
}

export type RefusalIn = (reply: PlatformCallReply) => PlatformRefusal | null;

export interface PlatformCallReply {
  verdict: 'replied';
  status: number;
  headers: Record<string, string>;
  /** Empty object if the body is not a JSON object. */
  body: Record<string, unknown>;
  excerpt: string;
}

export type CallResult = PlatformCallReply | PlatformRefusal;

const EXCERPT = 500;
/** A slower platform counts as unreachable. */
const LIMITS = { firstByteMs: 15_000, totalMs: 30_000, maxBytes: 1024 * 1024, redirects: 0 };

/**
 * The base URL, set only by an admin, may be private: exactly its host and port are allowed.
 * Failures and rejections are verdicts, `unknown` if the request may have been processed. Throws
 * only if the signal is aborted.
 */
export const callPlatform = async (
  { http, settings, signal }: PlatformReach,
  { method = 'POST', url, headers = {}, body, isPublic, refusalIn = platformRefusal }: PlatformCall,
): Promise<CallResult> => {
  try {
    const response = await http.request({
      method,
      url,
      signal,
      ...LIMITS,
      headers: { accept: 'application/json', ...(body && JSON_TYPE), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      ...(!isPublic && { allow: [hostAndPort(settings.baseUrl)] }),
    });
    const secrets = secretsIn(settings);
    const text = await redactTextInWorker(response.body.toString('utf8'), secrets);
    const reply: PlatformCallReply = {
      verdict: 'replied',
      status: response.status,
      headers: toTextHeaders(await redactInWorker(response.headers, secrets)),
      body: parseJsonObject(text),
      excerpt: text.slice(0, EXCERPT),
    };
    return refusalIn(reply) ?? reply;
  } catch (error) {
    if (error instanceof EgressRefused || error instanceof BadUrl) {
      return { verdict: 'failed', error: error.message };
    }
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return { verdict: error.effectBegan ? 'unknown' : 'retry', error: error.message };
  }
};

/** Secrets that a platform or a proxy might repeat in its response. */
const secretsIn = ({ secrets }: PlatformReach['settings']): string[] =>
  Object.values(secrets)
    .flatMap((secret) => [secret, ...secret.split(/[\s,]+/), ...listSecretUrlParts(secret)])
    .filter(({ length }) => length >= MIN_PIECE_LENGTH);

/** Path and query of a secret URL, and query values, which may sign it. */
const listSecretUrlParts = (secret: string): string[] => {
  if (!URL.canParse(secret)) return [];
  const { pathname, search, searchParams } = new URL(secret);
  return [`${pathname}${search}`, ...searchParams.values()];
};

const toTextHeaders = (headers: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asObject(headers)).map(([name, value]) => [name, asText(value)]),
  );

/** null if the call succeeded. */
export const platformRefusal = (
  { status, headers, excerpt }: PlatformCallReply,
  error = `${status} from the platform`,
): PlatformRefusal | null => {
  const seen = { status, excerpt };
  if (status >= 200 && status < 300) return null;
  if (status === 429) return { ...seen, verdict: 'retry', error, ...retryAfter(headers) };
  // A gateway cannot know whether the server accepted the message.
  if (status === 502 || status === 504) return { ...seen, verdict: 'unknown', error };
  if (status === 503) return { ...seen, verdict: 'retry', error, ...retryAfter(headers) };
  return { ...seen, verdict: status >= 500 ? 'unknown' : 'failed', error };
};

export const toPlatformSent = (
  reply: CallResult,
  receiptIn: (reply: PlatformCallReply) => string | null,
): PlatformSent => {
  if (reply.verdict !== 'replied') return reply;
  const { status, excerpt } = reply;
  return { verdict: 'sent', receipt: receiptIn(reply), status, excerpt };
};

/** An unknown outcome before the message itself was requested can be retried. */
export const nothingSent = (refusal: PlatformRefusal): PlatformRefusal =>
  refusal.verdict === 'unknown' ? { ...refusal, verdict: 'retry' } : refusal;

export const toPlatformCheck = (
  reply: CallResult,
  accountIn: (reply: PlatformCallReply) => string,
): PlatformCheck =>
  reply.verdict === 'replied'
    ? { ok: true, account: accountIn(reply) }
    : { ok: false, error: reply.error };

/** Empty object for anything else. */
export const parseJsonObject = (text: string): Record<string, unknown> =>
  asObject(parsedJson(text));

export const asObject = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

const retryAfter = (headers: Record<string, string>): { afterMs?: number } => {
  const seconds = Number(headers['retry-after']);
  return seconds > 0 ? { afterMs: seconds * 1000 } : {};
};

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
