import { createHash } from 'node:crypto';
import Boom from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import {
  CustomReply,
  type Endpoint,
  type KeptReply,
  type ReplayCall,
} from './contract/endpoint.js';

/**
 * A call whose `Idempotency-Key` was used before: the reply that the first call got, `running` if that
 * is still at work, and `lost` if nobody knows whether it took effect.
 */
export type RepeatedCall = KeptReply | 'running' | 'other_body' | 'lost';

/** The store of first replies, for a repeated `Idempotency-Key`. */
export interface Replays {
  /** Returns `null` if the call may proceed. */
  begin(call: ReplayCall): Promise<RepeatedCall | null>;
  end(call: ReplayCall, reply: KeptReply | null): Promise<void>;
}

const REFUSALS = {
  running: {
    message: 'The first request with this Idempotency-Key is still in progress',
    code: 'idempotency_key_busy',
  },
  other_body: {
    message: 'This Idempotency-Key was already used with a different body',
    code: 'idempotency_key_reused',
  },
  lost: {
    message:
      'The daemon stopped during the first request with this Idempotency-Key. The request may have ' +
      'taken effect. Check that, then retry with a new key',
    code: 'idempotency_key_lost',
  },
};

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
  const isRepeatable = request.method !== 'post';
  return { userId: caller.userId, route, key, bodyDigest, isRepeatable };
};

/** Does the work, or returns the reply that the first call with the same key got. */
export const repliedOnce = async (
  replays: Replays,
  call: ReplayCall,
  work: () => Promise<CustomReply<unknown>>,
): Promise<CustomReply<unknown>> => {
  const kept = await replays.begin(call);
  if (typeof kept === 'string') {
    const { message, code } = REFUSALS[kept];
    throw Boom.conflict(message, { code });
  }
  if (kept) return new CustomReply(kept.status, kept.body, { 'idempotent-replayed': 'true' });
  let reply: CustomReply<unknown>;
  try {
    reply = await work();
  } catch (error) {
    await replays.end(call, null);
    throw error;
  }
  // What was done is told even if that cannot be recorded; a repeat is then refused.
  await replays
    .end(call, { status: reply.status, body: reply.body ?? null })
    .catch(() => undefined);
  return reply;
};
