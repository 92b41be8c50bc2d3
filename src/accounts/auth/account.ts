import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { asPerson, type Caller } from '../../kernel/contract/endpoint.js';
import type { Login } from '../../kernel/contract/login.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { addFailure, failureSource, loggedInSource, refundTry, refuseFlood } from './flood.js';
import type { Origin } from './newdevice.js';
import { refuseWeakPassword } from './policy.js';
import type { FailureKey } from './queries.js';
import { accountKey } from './rules.js';
import {
  type AuthDeps,
  beginSession,
  type SessionStart,
  translatePasswordsBusy,
} from './service.js';

const FRESH_MS = 10 * 60 * 1000;

/** An account and the origin of a request, which together identify failed attempts. */
interface LoginAttempt {
  userId: string;
  by: Origin & Partial<Pick<Caller, 'sessionId'>>;
}
type AccountCaller = Origin & Pick<Caller, 'userId' | 'sessionId' | 'member'>;

/** Operations for other modules. Failures of every kind share one counter. */
export const createAccountOperations = (deps: AuthDeps) => {
  const { users } = deps;

  return {
    /** Returns the normal form of a username or an e-mail address. */
    keyOf: accountKey,

    /** `name` is a username or an e-mail address. */
    userIdOf: async (name: string): Promise<string | null> =>
      (await users.userByKey(accountKey(name)))?.id ?? null,

    /**
     * Returns null if the account is missing or disabled. `begin` returns null if the account was
     * changed or disabled meanwhile, or a step of `also` was not met.
     */
    entryOf: async (
      userId: string,
    ): Promise<{ begin(from: SessionStart): Promise<Login | null> } | null> => {
      const row = await users.userById(userId);
      if (!row || row.disabled_at !== null) return null;
      return { begin: (from) => beginSession(deps, row, from) };
    },

    ...createAuthProofs(deps),

    /** Throws 429 after too many failures. */
    refuseFlood: async (attempt: LoginAttempt): Promise<void> =>
      refuseFlood(deps, await keyFor(deps, attempt)),

    /** Throws 400 if the password is too weak, and 429 if too many passwords wait to be hashed. */
    hashPassword: async (password: string, userId: string): Promise<string> => {
      const user = await users.userById(userId);
      await refuseWeakPassword({ password, names: [user?.username, user?.email] });
      return translatePasswordsBusy(() => deps.passwords.hash(password));
    },

    addFailure: async (attempt: LoginAttempt): Promise<void> => {
      const key = await keyFor(deps, attempt);
      const isUser = key.account !== attempt.userId;
      await addFailure(deps, key, isUser ? attempt.userId : null);
    },
  };
};

export type AccountOperations = ReturnType<typeof createAccountOperations>;

const createAuthProofs = (deps: AuthDeps) => {
  const { users, clock } = deps;
  const now = (): string => iso(clock.now());
  return {
    /**
     * Returns the time of the last authentication in the session, and its end at the identity
     * provider; null if the session has ended.
     */
    proofOf: async (sessionId: string): Promise<Pick<SessionStart, 'provenAt' | 'sso'> | null> => {
      const session = await users.liveSession(sessionId, now());
      if (!session) return null;
      const { proven_at, created_at, sso_expires_at } = session;
      const sso = sso_expires_at === null ? undefined : { expiresAt: sso_expires_at };
      return { provenAt: proven_at ?? created_at, sso };
    },

    sessionHolds: (sessionId: string): TransactionStep => users.sessionHolds(sessionId, now()),

    /**
     * Runs `make`, which puts the step `holds` into its transaction. Throws 401 if the session has
     * ended meanwhile; `make` returns false if nothing was written.
     */
    withinSession: async (
      sessionId: string,
      make: (holds: TransactionStep) => Promise<boolean>,
    ): Promise<boolean> => {
      if (await make(users.sessionHolds(sessionId, now()))) return true;
      if (await users.liveSession(sessionId, now())) return false;
      throw Boom.unauthorized('Your login session has ended. Log in again');
    },

    /**
     * Verifies that the owner is asking: by a recent login, or by the password. Throws 403
     * `password_required`, 401 for a wrong password, and 429 after too many failures.
     */
    proveFresh: async (by: AccountCaller, password?: string): Promise<void> => {
      if (password !== undefined) return confirm(deps, asPerson(by), password);
      const session = await users.liveSession(by.sessionId, now());
      const provenAt = session?.proven_at ?? session?.created_at;
      if (provenAt !== undefined && clock.now() - Date.parse(provenAt) <= FRESH_MS) return;
      throw Boom.forbidden(
        'Your login is more than 10 minutes old. Send your password as well, or log in again',
        { code: 'password_required' },
      );
    },
  };
};

const keyFor = async ({ users }: AuthDeps, { userId, by }: LoginAttempt): Promise<FailureKey> => {
  const row = await users.userById(userId);
  const address = by.sessionId === undefined ? failureSource(by, null) : loggedInSource(by);
  return { account: row?.username_key ?? userId, address };
};

const confirm = async (deps: AuthDeps, by: AccountCaller, password: string): Promise<void> => {
  const key = await keyFor(deps, { userId: by.userId, by });
  await refuseFlood(deps, key);
  const row = await deps.users.userById(by.userId);
  const known = row?.password_hash ?? null;
  const isRight = await translatePasswordsBusy(() =>
    deps.passwords.verify(known, password, key.address),
  );
  if (isRight) return refundTry(deps, key);
  await addFailure(deps, key, row?.id ?? null);
  throw new Boom.Boom('Wrong password', { statusCode: 401, data: { code: 'wrong_password' } });
};
