import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { AuditRecorder, Recorder } from '../../kernel/contract/audit.js';
import type { Caller, RequestContext } from '../../kernel/contract/endpoint.js';
import type { Login } from '../../kernel/contract/login.js';
import type { PasskeyDeps } from './challenges.js';
import { textDigest } from './rules.js';

const GRANT_MS = 60 * 1000;

interface GrantRedemption {
  code: string;
  verifier: string;
  device?: string;
  deviceToken?: string;
}

export const grant = async (
  deps: PasskeyDeps,
  challenge: string,
  by: Caller & Recorder,
): Promise<{ code: string; expiresAt: string }> => {
  const code = randomBytes(32).toString('base64url');
  const now = deps.clock.now();
  const expiresAt = iso(now + GRANT_MS);
  await deps.passkeys.keepGrant(
    {
      code_digest: textDigest(code),
      user_id: by.userId,
      session_id: by.sessionId,
      challenge,
      expires_at: expiresAt,
    },
    iso(now),
    [by.record()],
  );
  return { code, expiresAt };
};

/**
 * The first attempt uses up the code. The code is valid only while the session that issued it is. The
 * new session counts as old as that one: sensitive actions require authentication again, and it ends
 * 30 days after the user authenticated, or with the session at the identity provider.
 */
export const redeemGrant = async (
  deps: PasskeyDeps,
  { code, verifier, device, deviceToken }: GrantRedemption,
  by: RequestContext & AuditRecorder,
): Promise<Login> => {
  const issued = await deps.passkeys.takeGrant(textDigest(code), iso(deps.clock.now()));
  if (!issued) throw Boom.unauthorized(CODE_REFUSED);
  const { user_id: userId, session_id: sessionId } = issued;
  const isRight = textDigest(verifier) === issued.challenge;
  const entry = isRight ? await deps.accounts.entryOf(userId) : null;
  const proof = await deps.accounts.proofOf(sessionId);
  if (entry && proof) {
    const record = by.record({ actorId: userId, data: { by: 'grant' } });
    const also = [deps.accounts.sessionHolds(sessionId), record];
    const login = await entry.begin({ by, device, deviceToken, ...proof, also });
    if (login) return login;
  }
  await deps.accounts.addFailure({ userId, by });
  throw Boom.unauthorized(CODE_REFUSED);
};

const CODE_REFUSED = 'The login code is wrong, already used or expired. Start the login again';
