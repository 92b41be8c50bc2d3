import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { Login } from './contract.js';
import { keyOf } from './rules.js';
import { type AuthDeps, type Beginning, beginSession, gated, refuseFlood } from './service.js';
import type { FailureKey } from './store.js';

const FRESH_MS = 10 * 60 * 1000;

/** Somebody, from somewhere: what failures are counted by. */
interface Attempt {
  userId: string;
  address: string;
}

/** What other resources may ask of accounts. Failures of whatever kind share one count. */
export const accountsOf = (deps: AuthDeps) => {
  const { users, clock } = deps;
  const now = (): string => iso(clock.now());
  const keyFor = async ({ userId, address }: Attempt): Promise<FailureKey> => {
    const row = await users.userById(userId);
    return { account: row?.username_key ?? userId, address };
  };
  const confirm = async (attempt: Attempt, password: string): Promise<void> => {
    const key = await keyFor(attempt);
    await refuseFlood(deps, key);
    const row = await users.userById(attempt.userId);
    const known = row?.password_hash ?? null;
    if (await gated(() => deps.passwords.verify(known, password, attempt.address))) return;
    await users.addFailure(key, now());
    throw new Boom.Boom('Wrong password', { statusCode: 401, data: { code: 'wrong_password' } });
  };

  return {
    /** The id of a username or an e-mail address; null: nobody has it. */
    userIdOf: async (name: string): Promise<string | null> =>
      (await users.userByKey(keyOf(name)))?.id ?? null,

    /** null: there is no such user, or the account is disabled. */
    beginSession: async (userId: string, from: Beginning): Promise<Login | null> => {
      const row = await users.userById(userId);
      return row && row.disabled_at === null ? beginSession(deps, row, from) : null;
    },

    isLive: async (sessionId: string): Promise<boolean> =>
      (await users.liveSession(sessionId, now())) !== undefined,

    /**
     * That it is still the owner who asks: soon after login, or with the password. 403
     * `password_required` without it later than that, 401 where it is wrong, 429 after too many.
     */
    proveFresh: async (by: Attempt & { sessionId: string }, password?: string): Promise<void> => {
      if (password !== undefined) return confirm(by, password);
      const session = await users.liveSession(by.sessionId, now());
      if (session && clock.now() - Date.parse(session.created_at) <= FRESH_MS) return;
      throw Boom.forbidden('Your login is over ten minutes old: give the password too', {
        code: 'password_required',
      });
    },

    /** 429 after too many failures. */
    refuseFlood: async (attempt: Attempt): Promise<void> =>
      refuseFlood(deps, await keyFor(attempt)),

    /** 429 where too many passwords wait. */
    hashPassword: (password: string): Promise<string> => gated(() => deps.passwords.hash(password)),

    addFailure: async (attempt: Attempt): Promise<void> =>
      users.addFailure(await keyFor(attempt), now()),
  };
};
