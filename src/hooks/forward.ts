import { BadUrl, EgressRefused } from '../kernel/egress.js';
import { HttpFailure } from '../kernel/failure.js';
import type { Http } from '../kernel/http.js';
import { redactTextApart } from '../kernel/redactapart.js';
import type { Forward } from './render.js';

export type Forwarded =
  | { verdict: 'success'; result: { status: number; body: string } }
  | { verdict: 'error'; error: string; effectBegan: boolean }
  /** Worth another attempt, after at least `afterMs` milliseconds. */
  | { verdict: 'retry'; error: string; effectBegan: boolean; afterMs: number };

const DELAYS_MS = [5_000, 30_000];
const LONGEST_DELAY_MS = 10 * 60_000;
const EXCERPT = 2_000;

/**
 * Sends the request once, and redacts the reply. `attempt` counts from 1; after network failures,
 * 429 and 5xx there are up to two more attempts.
 */
export const sendForward = async (
  { http, forward, secrets }: { http: Http; forward: Forward; secrets: string[] },
  attempt: number,
  signal: AbortSignal,
): Promise<Forwarded> => {
  const hasBody = forward.method !== 'GET' && forward.method !== 'HEAD';
  try {
    const reply = await http.request({
      method: forward.method,
      url: forward.url,
      headers: forward.headers,
      ...(hasBody && { body: forward.body }),
      signal,
    });
    if (reply.notFollowed !== undefined) {
      return {
        verdict: 'error',
        error: outbound(reply.status, reply.notFollowed),
        effectBegan: true,
      };
    }
    const body = (await redactTextApart(reply.body.toString('utf8'), secrets)).slice(0, EXCERPT);
    if (reply.status < 400) return { verdict: 'success', result: { status: reply.status, body } };
    const error = `${reply.status} from the target`;
    if (reply.status !== 429 && reply.status < 500) {
      return { verdict: 'error', error, effectBegan: true };
    }
    return again(
      { error, effectBegan: true },
      attempt,
      Number(reply.headers['retry-after']) * 1000,
    );
  } catch (error) {
    if (error instanceof EgressRefused || error instanceof BadUrl) {
      return { verdict: 'error', error: error.message, effectBegan: false };
    }
    if (!(error instanceof HttpFailure) || signal.aborted) throw error;
    return again({ error: error.message, effectBegan: error.effectBegan }, attempt, 0);
  }
};

const outbound = (status: number, to: string): string =>
  `${status} from the target: it redirects to ${new URL(to).origin}, and what carries a body goes to no other host. Set webhookUrl to where it should go`;

const again = (
  failure: { error: string; effectBegan: boolean },
  attempt: number,
  askedMs: number,
): Forwarded => {
  const delayMs = DELAYS_MS[attempt - 1];
  if (delayMs === undefined) return { verdict: 'error', ...failure };
  const jitterMs = Math.floor(Math.random() * delayMs * 0.2);
  const afterMs = Math.min(LONGEST_DELAY_MS, Math.max(askedMs || 0, delayMs + jitterMs));
  return { verdict: 'retry', ...failure, afterMs };
};
