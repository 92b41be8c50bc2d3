import { randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import type { Recorder, VisitRecorder } from '../../kernel/audit.js';
import { iso } from '../../kernel/clock.js';
import type { Caller, Visit } from '../../kernel/endpoint.js';
import type { PasskeyDeps } from './challenges.js';
import type { Login } from './contract.js';
import { digestOf } from './rules.js';

const GRANT_MS = 60 * 1000;

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
      code_digest: digestOf(code),
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

/** A code is gone with the first try, and worth nothing once the session that gave it is over. */
export const redeem = async (
  deps: Deps,
  { code, verifier, device }: { code: string; verifier: string; device?: string },
  by: Visit & VisitRecorder,
): Promise<Login> => {
  const { address } = by;
  const given = await deps.passkeys.takeGrant(digestOf(code), iso(deps.clock.now()));
  if (!given) throw Boom.unauthorized('That code is wrong, used or over');
  const { user_id: userId, session_id: sessionId } = given;
  const isRight = digestOf(verifier) === given.challenge;
  const isLive = await deps.accounts.isLive(sessionId);
  const also = [by.record({ actorId: userId, data: { by: 'grant' } })];
  const from = { device, address, also };
  const login = isRight && isLive ? await deps.accounts.beginSession(userId, from) : null;
  if (login) return login;
  await deps.accounts.addFailure({ userId, address });
  throw Boom.unauthorized('That code is wrong, used or over');
};
