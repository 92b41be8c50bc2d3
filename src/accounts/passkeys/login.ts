import { iso } from '../../kernel/clock.js';
import type { AuditRecorder } from '../../kernel/contract/audit.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import type { PasskeyChallengeRow, PasskeyRow } from '../../store/tables/accounts.js';
import {
  credentialOf,
  keepChallenge,
  type PasskeyDeps,
  passkeyRefused,
  relyingPartyOf,
  takeChallenge,
} from './challenges.js';
import type { Assertion, PasskeyLogin } from './contract.js';
import type { RelyingParty } from './rules.js';
import { requestOptions, verifyRequest } from './webauthn.js';

/** User id for a challenge that was requested for an unknown name. */
const NOBODY = '';

/** Begins a login. The reply is the same for known and unknown names. */
export const beginLogin = async (
  deps: PasskeyDeps,
  username: string | undefined,
  by: RequestContext,
): Promise<{ options: Record<string, unknown>; challengeId: string }> => {
  const relyingParty = relyingPartyOf(deps, by);
  const options = await requestOptions(relyingParty);
  const challengeId = mint('challenge', deps.clock.now());
  const userId = username === undefined ? null : await deps.accounts.userIdOf(username);
  await keepChallenge(deps, relyingParty, {
    id: challengeId,
    purpose: 'authenticate',
    user_id: username === undefined ? null : (userId ?? NOBODY),
    challenge: options.challenge,
  });
  return { options: { ...options }, challengeId };
};

interface PasskeyAssertion {
  challengeId: string;
  response: Assertion;
  device: string | undefined;
  deviceToken: string | undefined;
}

/** Finishes a login. Every fault in the response gives the same 401. */
export const finishPasskeyLogin = async (
  deps: PasskeyDeps,
  given: PasskeyAssertion,
  by: RequestContext & AuditRecorder,
): Promise<PasskeyLogin> => {
  const { challengeId: id, response, device, deviceToken } = given;
  const relyingParty = relyingPartyOf(deps, by);
  const asked = await takeChallenge(deps, relyingParty, { id, purpose: 'authenticate' });
  const row = await deps.passkeys.byCredential(relyingParty.id, response.id);
  if (!row) throw passkeyRefused();
  const userId = row.user_id;
  await deps.accounts.refuseFlood({ userId, by });
  const entry = await deps.accounts.entryOf(userId);
  const isRight = asked && (await isUsed(deps, { asked, row, response, relyingParty }));
  if (isRight && entry) {
    const record = by.record({ actorId: userId, data: { by: 'passkey' } });
    const also = [deps.passkeys.isThere(row.id), record];
    const login = await entry.begin({ by, device, deviceToken, also });
    if (login) return login;
  }
  await deps.accounts.addFailure({ userId, by });
  throw passkeyRefused();
};

/**
 * Verifies the response and stores its use. Returns false if another use with the same counter was
 * first.
 */
const isUsed = async (
  { passkeys, clock }: PasskeyDeps,
  of: {
    asked: PasskeyChallengeRow;
    row: PasskeyRow;
    response: Assertion;
    relyingParty: RelyingParty;
  },
): Promise<boolean> => {
  const { asked, row, response, relyingParty } = of;
  const owner = Buffer.from(response.response.userHandle, 'base64url').toString();
  if (owner !== row.user_id || (asked.user_id ?? owner) !== owner) return false;
  const credential = credentialOf(row);
  const { challenge } = asked;
  const verified = await verifyRequest(response, { relyingParty, challenge, credential });
  if (!verified) return false;
  return passkeys.use(row.id, { counter: verified.counter, at: iso(clock.now()) });
};
