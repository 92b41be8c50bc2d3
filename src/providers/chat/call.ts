import { BadUrl, EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import { redactApart, redactTextApart } from '../../kernel/redactapart.js';
import { SHORTEST_PIECE } from '../../kernel/secretforms.js';
import { ownAddress } from '../llm/address.js';
import type { PlatformReach, PlatformSent } from './platform.js';

export interface PlatformCall {
  method?: 'GET' | 'POST';
  /** Another than under the base URL must be one that anybody may reach. */
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: object;
}

export interface PlatformAnswer {
  verdict: 'answered';
  status: number;
  headers: Record<string, string>;
  /** What the JSON says; an empty object where it is none. */
  body: Record<string, unknown>;
  /** The beginning of it, as it came. */
  excerpt: string;
}

const EXCERPT = 500;
/** Ours: a platform that takes longer is as good as gone. */
const LIMITS = { firstByteMs: 15_000, totalMs: 30_000, maxBytes: 1024 * 1024, redirects: 0 };

/**
 * One call of a platform's API. The base URL, which only an admin sets, may be private: exactly its
 * host and port are allowed. Without an answer it is a verdict: `unknown` once the request went out.
 * Throws only when the signal is aborted.
 */
export const callPlatform = async (
  { http, settings, signal }: PlatformReach,
  { method = 'POST', url, headers = {}, body }: PlatformCall,
): Promise<PlatformAnswer | Exclude<PlatformSent, { verdict: 'sent' }>> => {
  try {
    const reply = await http.request({
      ...{ method, url, signal, ...LIMITS },
      headers: { accept: 'application/json', ...(body && JSON_TYPE), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      allow: [ownAddress(settings.baseUrl)],
    });
    const secrets = secretsIn(settings);
    const text = await redactTextApart(reply.body.toString('utf8'), secrets);
    return {
      verdict: 'answered',
      status: reply.status,
      headers: textsOf(await redactApart(reply.headers, secrets)),
      body: objectOf(text),
      excerpt: text.slice(0, EXCERPT),
    };
  } catch (error) {
    if (error instanceof EgressRefused || error instanceof BadUrl) {
      return { verdict: 'failed', error: error.message };
    }
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return { verdict: error.effectBegan ? 'unknown' : 'retry', error: error.message };
  }
};

/** What a platform, or what stands before it, might say again of what we sent. */
const secretsIn = ({ secrets }: PlatformReach['settings']): string[] =>
  Object.values(secrets)
    .flatMap((secret) => [secret, ...secret.split(/[\s,]+/), ...partsOf(secret)])
    .filter(({ length }) => length >= SHORTEST_PIECE);

/** Of a secret that is an address: what a server sees of it, and what it is signed with. */
const partsOf = (secret: string): string[] => {
  if (!URL.canParse(secret)) return [];
  const { pathname, search, searchParams } = new URL(secret);
  return [`${pathname}${search}`, ...searchParams.values()];
};

const textsOf = (headers: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asObject(headers)).map(([name, value]) => [name, asText(value)]),
  );

/** What any platform's statuses mean: null where the call was answered with success. */
export const platformRefusal = (
  { status, headers, excerpt }: PlatformAnswer,
  error = `${status} from the platform`,
): PlatformSent | null => {
  const seen = { status, excerpt };
  if (status >= 200 && status < 300) return null;
  if (status === 429) return { ...seen, verdict: 'retry', error, ...retryAfter(headers) };
  // A gateway cannot say whether what stands behind it has taken the message.
  if (status === 502 || status === 504) return { ...seen, verdict: 'unknown', error };
  if (status === 503) return { ...seen, verdict: 'retry', error, ...retryAfter(headers) };
  return { ...seen, verdict: status >= 500 ? 'unknown' : 'failed', error };
};

/** Whatever JSON it is, seen as an object; an empty one where it is none. */
export const objectOf = (text: string): Record<string, unknown> => {
  try {
    return asObject(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
};

export const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

const retryAfter = (headers: Record<string, string>): { afterMs?: number } => {
  const seconds = Number(headers['retry-after']);
  return seconds > 0 ? { afterMs: seconds * 1000 } : {};
};

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
