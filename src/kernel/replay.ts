import { createHash } from 'node:crypto';
import Boom from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import {
  CustomReply,
  type Endpoint,
  type KeptReply,
  type ReplayCall,
} from './contract/endpoint.js';

/** The store of first replies, for a repeated `Idempotency-Key`. */
export interface Replays {
  /**
   * Returns `null` if the call may proceed. Otherwise returns the reply that the first call got, or
   * `running` if it has none yet.
   */
  begin(call: ReplayCall): Promise<KeptReply | 'running' | 'other_body' | null>;
  end(call: ReplayCall, reply: KeptReply | null): Promise<void>;
}
/** True for an endpoint whose replies are stored: none of secrets, files, or bodies that came unparsed. */
export const isReplyStored = ({ secret, readsOnly, form, rawBytes }: Endpoint): boolean =>
  !secret && !readsOnly && !form && rawBytes === undefined;

/** Returns the call of a request with an `Idempotency-Key`; null for any other. */
export const replayCall = (route: string, request: Request): ReplayCall | null => {
  const key = request.headers['idempotency-key'];
  const caller = request.auth.credentials?.app?.caller;
  if (typeof key !== 'string' || !caller || request.method === 'get') return null;
  if (key.length < 1 || key.length > 200) {
    throw Boom.badRequest('Idempotency-Key must have 1 to 200 characters');
  }
  const bodyDigest = createHash('sha256')
    .update(JSON.stringify([request.params, request.payload ?? null]))
    .digest('hex');
  return { userId: caller.userId, route, key, bodyDigest };
};

/** Does the work, or returns the reply that the first call with the same key got. */
export const repliedOnce = async (
  replays: Replays,
  call: ReplayCall,
  work: () => Promise<CustomReply<unknown>>,
): Promise<CustomReply<unknown>> => {
  const kept = await replays.begin(call);
  if (kept === 'running') {
    const message = 'The first call with this Idempotency-Key is still at work';
    throw Boom.conflict(message, { code: 'idempotency_key_busy' });
  }
  if (kept === 'other_body') {
    const message = 'This Idempotency-Key was used with another body';
    throw Boom.conflict(message, { code: 'idempotency_key_reused' });
  }
  if (kept) return new CustomReply(kept.status, kept.body, { 'idempotent-replayed': 'true' });
  try {
    const reply = await work();
    await replays.end(call, { status: reply.status, body: reply.body ?? null });
    return reply;
  } catch (error) {
    await replays.end(call, null);
    throw error;
  }
};
