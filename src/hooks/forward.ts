import { BadUrl, EgressRefused } from '../kernel/egress.js';
import { HttpFailure } from '../kernel/failure.js';
import { faultOfHeaderValue } from '../kernel/headervalue.js';
import type { Http } from '../kernel/http.js';
import { redactTextInWorker } from '../kernel/redactinworker.js';
import { hostRefusal, type Vault } from '../vault/module.js';
import type { Forward } from './render.js';
import type { HookRun } from './run.js';

export type Forwarded =
  | { verdict: 'success'; result: { status: number; body: string } }
  | { verdict: 'error'; error: string; effectBegan: boolean }
  /** `afterMs`: minimum delay before the next attempt, in milliseconds. */
  | { verdict: 'retry'; error: string; effectBegan: boolean; afterMs: number };

const DELAYS_MS = [5_000, 30_000];
const MAX_DELAY_MS = 10 * 60_000;
const EXCERPT = 2_000;

/** `attempt` starts at 1. After network errors, 429 and 5xx there are up to two more attempts. */
export const sendForward = async (
  { http, forward, secrets }: Authorized & { http: Http },
  attempt: number,
  signal: AbortSignal,
): Promise<Forwarded> => {
  const hasBody = forward.method !== 'GET' && forward.method !== 'HEAD';
  try {
    const { method, url, headers, body: sent } = forward;
    const reply = await http.request({
      method,
      url,
      headers,
      ...(hasBody && { body: sent }),
      signal,
      keepsMethod: true,
    });
    if (reply.notFollowed !== undefined) {
      const error = redirected(reply.status, reply.notFollowed);
      return { verdict: 'error', error, effectBegan: true };
    }
    const body = (await redactTextInWorker(reply.body.toString('utf8'), secrets)).slice(0, EXCERPT);
    if (reply.status < 400) return { verdict: 'success', result: { status: reply.status, body } };
    const error = `The target replied with status ${reply.status}`;
    if (reply.status !== 429 && reply.status < 500) {
      return { verdict: 'error', error, effectBegan: true };
    }
    const askedMs = Number(reply.headers['retry-after']) * 1000;
    return again({ error, effectBegan: true }, attempt, askedMs);
  } catch (error) {
    if (error instanceof EgressRefused || error instanceof BadUrl) {
      return { verdict: 'error', error: error.message, effectBegan: false };
    }
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return again({ error: error.message, effectBegan: error.effectBegan }, attempt, 0);
  }
};

const redirected = (status: number, to: string): string =>
  `The target replied with status ${status}, a redirect to ${new URL(to).origin}. Requests with a body are not redirected to another host, or as GET without the body. Set webhookUrl to the final address`;

const again = (
  failure: { error: string; effectBegan: boolean },
  attempt: number,
  askedMs: number,
): Forwarded => {
  const delayMs = DELAYS_MS[attempt - 1];
  if (delayMs === undefined) return { verdict: 'error', ...failure };
  const jitterMs = Math.floor(Math.random() * delayMs * 0.2);
  const afterMs = Math.min(MAX_DELAY_MS, Math.max(askedMs || 0, delayMs + jitterMs));
  return { verdict: 'retry', ...failure, afterMs };
};

interface Authorized {
  forward: Forward;
  secrets: string[];
}

/**
 * Adds the credential as bearer token (RFC 6750, section 2.1) just before sending, so that nothing
 * shown or stored contains it. Returns a message if the credential must not be sent.
 */
export const authorized = async (
  vault: Pick<Vault, 'borrow' | 'used'>,
  { hook }: HookRun,
  forward: Forward,
): Promise<Authorized | string> => {
  const { credentialId } = hook.actionConfig;
  const of = { userId: hook.userId, credentialId, url: forward.url, use: 'forward' } as const;
  const credential = await openHookCredential(vault, of);
  if (typeof credential === 'string') return credential;
  const { value } = credential;
  if (value === null) return { forward, secrets: [] };
  const headers = { ...forward.headers, authorization: `Bearer ${value}` };
  return { forward: { ...forward, headers }, secrets: [value] };
};

interface HookCredential {
  userId: string;
  credentialId: string | undefined;
  /** Where it is sent. */
  url: string;
  use: 'forward' | 'reply';
}

/** `value` is null without a credential. Returns a message if the credential must not be sent. */
export const openHookCredential = async (
  vault: Pick<Vault, 'borrow' | 'used'>,
  { userId, credentialId, url, use }: HookCredential,
): Promise<{ value: string | null } | string> => {
  if (credentialId === undefined) return { value: null };
  const credential = await vault.borrow(userId, { id: credentialId });
  const of = `The credential of this ${use}`;
  if (!credential) return `${of} no longer exists. Set another credentialId`;
  if (credential === 'expired') return `${of} has expired. Rotate the credential`;
  if (credential === 'damaged') return `${of} is damaged. Rotate the credential`;
  const reason = hostRefusal(new URL(url), credential);
  if (reason !== null) return reason;
  const value = credential.secret.take((bytes) => bytes.toString());
  if (faultOfHeaderValue(value) !== null) {
    return `${of} contains a character that HTTP headers do not allow, such as a line break. Rotate the credential`;
  }
  vault.used(credential.id);
  return { value };
};
