import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { Recorder, VisitRecorder } from '../../kernel/contract/audit.js';
import type { Caller, Visit } from '../../kernel/contract/endpoint.js';
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

type Deps = Pick<PasskeyDeps, 'passkeys' | 'accounts' | 'clock'>;

/** A code that gives whoever has the verifier a session of the same user. */
export const grant = async (
  deps: Deps,
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
 * A code is gone with the first try, and worth nothing once the session that gave it is over. The
 * new session is as old as that one: what is sensitive asks for the person again, and it ends 30
 * days after the person was asked.
 */
export const redeemGrant = async (
  deps: Deps,
  { code, verifier, device, deviceToken }: GrantRedemption,
  by: Visit & VisitRecorder,
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
