import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { AuditRecorder, Recorder } from '../../kernel/contract/audit.js';
import type { Caller, RequestContext } from '../../kernel/contract/endpoint.js';
import type { PasskeyDeps } from './challenges.js';
import type { PasskeyLogin } from './contract.js';
import { textDigest } from './rules.js';

const GRANT_MS = 60 * 1000;

interface GrantRedemption {
  code: string;
  verifier: string;
  device?: string;
  deviceToken?: string;
}

/** Issues a code that gives the owner of the verifier a session of the same user. */
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
 * Redeems a code. The first try spends it, and it is worthless once the session that issued it is
 * over. The new session counts as old as that one: sensitive actions ask the user to authenticate
 * again, and it ends 30 days after the user authenticated.
 */
export const redeemGrant = async (
  deps: PasskeyDeps,
  { code, verifier, device, deviceToken }: GrantRedemption,
  by: RequestContext & AuditRecorder,
): Promise<PasskeyLogin> => {
  const given = await deps.passkeys.takeGrant(textDigest(code), iso(deps.clock.now()));
  if (!given) throw Boom.unauthorized('That code is wrong, used or over');
  const { user_id: userId, session_id: sessionId } = given;
  const isRight = textDigest(verifier) === given.challenge;
  const entry = isRight ? await deps.accounts.entryOf(userId) : null;
  const provenAt = await deps.accounts.provenAt(sessionId);
  if (entry && provenAt !== null) {
    const record = by.record({ actorId: userId, data: { by: 'grant' } });
    const also = [deps.accounts.sessionHolds(sessionId), record];
    const login = await entry.begin({ by, device, deviceToken, provenAt, also });
    if (login) return login;
  }
  await deps.accounts.addFailure({ userId, by });
  throw Boom.unauthorized('That code is wrong, used or over');
};
