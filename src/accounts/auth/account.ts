import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Login } from './contract.js';
import { addFailure, insideOf, refundTry, refuseFlood, sourceOf } from './flood.js';
import type { Origin } from './newdevice.js';
import { refuseWeak } from './policy.js';
import type { FailureKey } from './queries.js';
import { accountKey } from './rules.js';
import { type AuthDeps, beginSession, gated, type SessionStart } from './service.js';

const FRESH_MS = 10 * 60 * 1000;

/** An account and the origin of a request, by which failures are counted. */
interface LoginAttempt {
  userId: string;
  by: Origin & Partial<Pick<Caller, 'sessionId'>>;
}
/** A logged-in caller who asks for something sensitive. */
type AccountCaller = Origin & Pick<Caller, 'userId' | 'sessionId'>;

/** Operations on accounts for other modules. Failures of every kind share one count. */
export const accountsOf = (deps: AuthDeps) => {
  const { users } = deps;

  return {
    /** Returns the id for a username or an e-mail address; null if nobody has it. */
    userIdOf: async (name: string): Promise<string | null> =>
      (await users.userByKey(accountKey(name)))?.id ?? null,

    /**
     * Returns the account as it is now, before a login is verified; null if there is no such user,
     * or the account is disabled. `begin` returns null if the account was changed or disabled
     * meanwhile, or a step of `also` was not met.
     */
    entryOf: async (
      userId: string,
    ): Promise<{ begin(from: SessionStart): Promise<Login | null> } | null> => {
      const row = await users.userById(userId);
      if (!row || row.disabled_at !== null) return null;
      return { begin: (from) => beginSession(deps, row, from) };
    },

    ...proofsOf(deps),

    /** Replies with 429 after too many failures. */
    refuseFlood: async (attempt: LoginAttempt): Promise<void> =>
      refuseFlood(deps, await keyFor(deps, attempt)),

    /**
     * Hashes a password. Replies with 400 if it is too easy to guess for that user, and with 429 if
     * too many passwords wait.
     */
    hashPassword: async (password: string, userId: string): Promise<string> => {
      const user = await users.userById(userId);
      await refuseWeak({ password, names: [user?.username, user?.email] });
      return gated(() => deps.passwords.hash(password));
    },

    addFailure: async (attempt: LoginAttempt): Promise<void> => {
      const key = await keyFor(deps, attempt);
      const isUser = key.account !== attempt.userId;
      await addFailure(deps, key, isUser ? attempt.userId : null);
    },
  };
};

export type AccountOperations = ReturnType<typeof accountsOf>;

/** Proofs that the present user is still the one who logged in. */
const proofsOf = (deps: AuthDeps) => {
  const { users, clock } = deps;
  const now = (): string => iso(clock.now());
  return {
    /**
     * Returns the time at which the user of a session last authenticated; null if the session is
     * over.
     */
    provenAt: async (sessionId: string): Promise<string | null> => {
      const session = await users.liveSession(sessionId, now());
      return session ? (session.proven_at ?? session.created_at) : null;
    },

    /** Returns a step that rolls back its transaction if the session has ended meanwhile. */
    sessionHolds: (sessionId: string): TransactionStep => users.sessionHolds(sessionId, now()),

    /**
     * Makes something that outlasts a session. If the session has ended meanwhile, it replies with
     * 401 and nothing is made. `make` puts the step into its transaction; it returns false if
     * nothing was made.
     */
    withinSession: async (
      sessionId: string,
      make: (holds: TransactionStep) => Promise<boolean>,
    ): Promise<boolean> => {
      if (await make(users.sessionHolds(sessionId, now()))) return true;
      if (await users.liveSession(sessionId, now())) return false;
      throw Boom.unauthorized('Your login has ended. Log in again');
    },

    /**
     * Verifies that the owner is asking: soon after the login, or with the password. Replies with
     * 403 `password_required` if it is too late without one, with 401 if it is wrong, and with 429
     * after too many failures.
     */
    proveFresh: async (by: AccountCaller, password?: string): Promise<void> => {
      if (password !== undefined) return confirm(deps, by, password);
      const session = await users.liveSession(by.sessionId, now());
      const provenAt = session?.proven_at ?? session?.created_at;
      if (provenAt !== undefined && clock.now() - Date.parse(provenAt) <= FRESH_MS) return;
      throw Boom.forbidden('Your login is over ten minutes old: give the password too', {
        code: 'password_required',
      });
    },
  };
};

const keyFor = async ({ users }: AuthDeps, { userId, by }: LoginAttempt): Promise<FailureKey> => {
  const row = await users.userById(userId);
  const address = by.sessionId === undefined ? sourceOf(by, null) : insideOf(by);
  return { account: row?.username_key ?? userId, address };
};

const confirm = async (deps: AuthDeps, by: AccountCaller, password: string): Promise<void> => {
  const key = await keyFor(deps, { userId: by.userId, by });
  await refuseFlood(deps, key);
  const row = await deps.users.userById(by.userId);
  const known = row?.password_hash ?? null;
  const isRight = await gated(() => deps.passwords.verify(known, password, key.address));
  if (isRight) return refundTry(deps, key);
  await addFailure(deps, key, row?.id ?? null);
  throw new Boom.Boom('Wrong password', { statusCode: 401, data: { code: 'wrong_password' } });
};
