import { type Clock, iso } from '../../kernel/clock.js';
import type { Caller, Visit } from '../../kernel/endpoint.js';
import type { Signer } from '../../runtime/keys/signing.js';
import type { AuthStore } from './store.js';

export type Identity = Omit<Caller, keyof Visit>;

/** Who a token belongs to. Its session row is read on every use, so that its end counts at once. */
export const createIdentify =
  (signer: Signer, users: AuthStore, clock: Clock) =>
  async (token: string): Promise<Identity | null> => {
    const claims = signer.read(token);
    if (!claims) return null;
    const session = await users.liveSession(claims.sessionId, iso(clock.now()));
    if (session?.user_id !== claims.userId) return null;
    return {
      userId: session.user_id,
      username: session.username,
      role: session.role,
      sessionId: session.id,
      expiresAt: iso(claims.expiresAt * 1000),
      scopes: null,
      tokenId: null,
      impersonator: null,
    };
  };
