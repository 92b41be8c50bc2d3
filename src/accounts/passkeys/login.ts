import { iso } from '../../kernel/clock.js';
import type { AuditRecorder } from '../../kernel/contract/audit.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import type { Login } from '../../kernel/contract/login.js';
import { mint } from '../../kernel/ids.js';
import type { PasskeyChallengeRow, PasskeyRow } from '../../store/tables/accounts.js';
import {
  findRelyingParty,
  keepChallenge,
  type PasskeyDeps,
  passkeyRefused,
  takeChallenge,
  toPasskeyCredential,
} from './challenges.js';
import type { Assertion } from './contract.js';
import type { RelyingParty } from './rules.js';
import { requestOptions, verifyRequest } from './webauthn.js';

/** User ID for a challenge that was requested for an unknown name. */
const NOBODY = '';

/** The reply is the same for known and unknown names. */
export const beginLogin = async (
  deps: PasskeyDeps,
  username: string | undefined,
  by: RequestContext,
): Promise<{ options: Record<string, unknown>; challengeId: string }> => {
  const relyingParty = findRelyingParty(deps, by);
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

/** Every fault in the response gives the same 401. */
export const finishPasskeyLogin = async (
  deps: PasskeyDeps,
  assertion: PasskeyAssertion,
  by: RequestContext & AuditRecorder,
): Promise<Login> => {
  const { challengeId: id, response, device, deviceToken } = assertion;
  const relyingParty = findRelyingParty(deps, by);
  const issued = await takeChallenge(deps, relyingParty, { id, purpose: 'authenticate' });
  const row = await deps.passkeys.byCredential(relyingParty.id, response.id);
  if (!row) throw passkeyRefused();
  const userId = row.user_id;
  await deps.accounts.refuseFlood({ userId, by });
  const entry = await deps.accounts.entryOf(userId);
  const isRight = issued && (await isUsed(deps, { issued, row, response, relyingParty }));
  if (isRight && entry) {
    const record = by.record({ actorId: userId, data: { by: 'passkey' } });
    const also = [deps.passkeys.isThere(row.id), record];
    const login = await entry.begin({ by, device, deviceToken, also });
    if (login) return login;
  }
  await deps.accounts.addFailure({ userId, by });
  throw passkeyRefused();
};

/** Stores the use. Returns false if another use with the same counter came first. */
const isUsed = async (
  { passkeys, clock }: PasskeyDeps,
  of: {
    issued: PasskeyChallengeRow;
    row: PasskeyRow;
    response: Assertion;
    relyingParty: RelyingParty;
  },
): Promise<boolean> => {
  const { issued, row, response, relyingParty } = of;
  const owner = Buffer.from(response.response.userHandle, 'base64url').toString();
  if (owner !== row.user_id || (issued.user_id ?? owner) !== owner) return false;
  const credential = toPasskeyCredential(row);
  const { challenge } = issued;
  const verified = await verifyRequest(response, { relyingParty, challenge, credential });
  if (!verified) return false;
  return passkeys.use(row.id, { counter: verified.counter, at: iso(clock.now()) });
};
