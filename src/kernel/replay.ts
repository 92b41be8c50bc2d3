import { createHash } from 'node:crypto';
import Boom from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import {
  CustomReply,
  type Endpoint,
  type ReplayCall,
  type StoredReply,
} from './contract/endpoint.js';

/**
 * The stored reply, `running` if the first request is in progress, `lost` if its outcome is
 * unknown.
 */
export type RepeatedCall = StoredReply | 'running' | 'other_body' | 'lost';

export interface Replays {
  begin(call: ReplayCall): Promise<RepeatedCall | null>;
  end(call: ReplayCall, reply: StoredReply | null): Promise<void>;
}

const REFUSALS = {
  running: {
    message: 'The first request with this Idempotency-Key is still in progress. Try again later',
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

export const isReplyStored = ({ secret, readsOnly, form, rawBytes }: Endpoint): boolean =>
  !secret && !readsOnly && !form && rawBytes === undefined;

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

export const replyOnce = async (
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
  // The result is returned even if it cannot be stored. A repeat is then refused.
  await replays
    .end(call, { status: reply.status, body: reply.body ?? null })
    .catch(() => undefined);
  return reply;
};
