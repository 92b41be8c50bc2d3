import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import type { Outbox } from '../../outbound/module.js';
import type { PasskeyChallengeRow, PasskeyRow } from '../../store/tables/accounts.js';
import type { AccountOperations } from '../auth/account.js';
import type { PasskeysStore } from './queries.js';
import type { RelyingParty } from './rules.js';
import { CHALLENGE_MS, type PasskeyCredential } from './webauthn.js';

export interface PasskeyDeps {
  passkeys: PasskeysStore;
  accounts: AccountOperations;
  outbox: Pick<Outbox, 'toOwner'>;
  clock: Clock;
  /** Returns the host names that passkeys can be bound to now. */
  relyingParties(): RelyingParty[];
}

/** Throws 400 `no_relying_party` if passkeys do not work at the address of the request. */
export const findRelyingParty = (deps: PasskeyDeps, { host }: RequestContext): RelyingParty => {
  const parties = deps.relyingParties();
  const found = parties.find((party) => party.host === host);
  if (found) return found;
  const shown = host.slice(0, 100);
  const places = parties.map(({ origin }) => `${origin}/passkeys`).join(' or ');
  const isPublic = parties.some(({ id }) => id !== 'localhost');
  const remedy = isPublic
    ? 'If a proxy in front of the daemon changed the Host header, configure the proxy to pass it on (nginx: proxy_set_header Host $host)'
    : 'Or set ADJUTANT_PUBLIC_URL to the https address that you use, and restart the daemon';
  throw Boom.badRequest(
    `Passkeys are bound to a host name, and "${shown}" is not a host name of this daemon. Open ${places}. ${remedy}`,
    { code: 'no_relying_party' },
  );
};

type NewChallenge = Omit<PasskeyChallengeRow, 'relying_party' | 'expires_at'>;

export const keepChallenge = async (
  { passkeys, clock }: PasskeyDeps,
  { id }: RelyingParty,
  challenge: NewChallenge,
): Promise<void> => {
  const now = clock.now();
  const row = { ...challenge, relying_party: id, expires_at: iso(now + CHALLENGE_MS) };
  await passkeys.keepChallenge(row, iso(now));
};

export const takeChallenge = async (
  { passkeys, clock }: PasskeyDeps,
  { id }: RelyingParty,
  which: Pick<PasskeyChallengeRow, 'id' | 'purpose'>,
): Promise<PasskeyChallengeRow | undefined> => {
  const row = await passkeys.takeChallenge(which, iso(clock.now()));
  return row?.relying_party === id ? row : undefined;
};

/** The same error for every fault of a response. */
export const passkeyRefused = (): Boom.Boom =>
  new Boom.Boom('The passkey was not accepted. Try again', {
    statusCode: 401,
    data: { code: 'passkey_refused' },
  });

export const toPasskeyCredential = (row: PasskeyRow): PasskeyCredential => ({
  id: row.credential_id,
  publicKey: row.public_key,
  counter: row.counter,
  transports: JSON.parse(row.transports),
});
