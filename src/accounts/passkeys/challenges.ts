import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Caller, Visit } from '../../kernel/contract/endpoint.js';
import type { Outbox } from '../../outbound/outbox.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { PasskeyChallengeRow, PasskeyRow } from '../../store/tables/accounts.js';
import type { PasskeyLogin } from './contract.js';
import type { PasskeysStore } from './queries.js';
import type { RelyingParty } from './rules.js';
import { CHALLENGE_MS, type PasskeyCredential } from './webauthn.js';

/** What passkeys need of accounts. */
export interface PasskeyAccounts {
  /** The id of a username or an e-mail address; null: nobody has it. */
  userIdOf(name: string): Promise<string | null>;
  /** The account as it is before a login is judged; null: nobody's, or disabled. */
  entryOf(userId: string): Promise<LoginOpening | null>;
  /** When the person of a session was asked who they are; null: the session is over. */
  provenAt(sessionId: string): Promise<string | null>;
  /** Undoes what it stands with where the session has ended meanwhile. */
  sessionHolds(sessionId: string): TransactionStep;
  /** Makes what outlasts a session; 401 where that has ended meanwhile. */
  withinSession(
    sessionId: string,
    make: (holds: TransactionStep) => Promise<boolean>,
  ): Promise<boolean>;
  /** 403 `password_required` later than ten minutes after login; 401, 429 for a wrong password. */
  proveFresh(by: Caller, password?: string): Promise<void>;
  /** 429 after too many failures of whatever kind. */
  refuseFlood(attempt: ChallengeAttempt): Promise<void>;
  addFailure(attempt: ChallengeAttempt): Promise<void>;
}
/** Somebody, from somewhere: what failures are counted by. */
interface ChallengeAttempt {
  userId: string;
  by: Visit;
}

interface LoginOpening {
  /** null: the account was changed or disabled meanwhile, or a step of `also` was not met. */
  begin(from: {
    by: Visit;
    device: string | undefined;
    deviceToken: string | undefined;
    provenAt?: string;
    also: TransactionStep[];
  }): Promise<PasskeyLogin | null>;
}

export interface PasskeyDeps {
  passkeys: PasskeysStore;
  accounts: PasskeyAccounts;
  outbox: Pick<Outbox, 'toOwner'>;
  clock: Clock;
  /** Names that a passkey may belong to now. */
  relyingParties(): RelyingParty[];
}

/** 400 `no_relying_party`: passkeys do not work at the address that was used. */
export const relyingPartyOf = (deps: PasskeyDeps, { host }: Visit): RelyingParty => {
  const parties = deps.relyingParties();
  const found = parties.find((party) => party.host === host);
  if (found) return found;
  const places = parties.map(({ origin }) => `${origin}/passkeys`).join(' or ');
  throw Boom.badRequest(
    `Passkeys belong to a name, and "${host.slice(0, 100)}" is none of this daemon. Open ${places}, ` +
      'or set ADJUTANT_PUBLIC_URL to the https address that you use',
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

/** One answer to everything that can be wrong with a response. */
export const passkeyRefused = (): Boom.Boom =>
  new Boom.Boom('That passkey was not accepted. Try again', {
    statusCode: 401,
    data: { code: 'passkey_refused' },
  });

export const credentialOf = (row: PasskeyRow): PasskeyCredential => ({
  id: row.credential_id,
  publicKey: row.public_key,
  counter: row.counter,
  transports: JSON.parse(row.transports),
});
