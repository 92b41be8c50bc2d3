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

/** The operations on accounts that passkeys need. */
export interface PasskeyAccounts {
  /** Returns the id for a username or an e-mail address; null if nobody has it. */
  userIdOf(name: string): Promise<string | null>;
  /** Returns the account before a login is verified; null if there is none, or it is disabled. */
  entryOf(userId: string): Promise<LoginOpening | null>;
  /**
   * Returns the time at which the user of a session last authenticated; null if the session is
   * over.
   */
  provenAt(sessionId: string): Promise<string | null>;
  /** Returns a step that rolls back its transaction if the session has ended meanwhile. */
  sessionHolds(sessionId: string): TransactionStep;
  /**
   * Makes something that outlasts a session. Replies with 401 if the session has ended meanwhile.
   */
  withinSession(
    sessionId: string,
    make: (holds: TransactionStep) => Promise<boolean>,
  ): Promise<boolean>;
  /**
   * Replies with 403 `password_required` later than ten minutes after login, and with 401 or 429
   * for a wrong password.
   */
  proveFresh(by: Caller, password?: string): Promise<void>;
  /** Replies with 429 after too many failures of any kind. */
  refuseFlood(attempt: ChallengeAttempt): Promise<void>;
  addFailure(attempt: ChallengeAttempt): Promise<void>;
}
/** An account and the origin of a request, by which failures are counted. */
interface ChallengeAttempt {
  userId: string;
  by: Visit;
}

interface LoginOpening {
  /**
   * Returns null if the account was changed or disabled meanwhile, or a step of `also` was not met.
   */
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
  /** Returns the names that passkeys may be bound to now. */
  relyingParties(): RelyingParty[];
}

/**
 * Finds the relying party of a request. Replies with 400 `no_relying_party` if passkeys do not work
 * at the address that was used.
 */
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

/** Builds the one error for everything that can be wrong with a response. */
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
