import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import { type TransactionStep, UniqueViolation } from '../../store/engine/protocol.js';
import type { AuthStore } from '../auth/queries.js';
import { computeNameSkeleton } from '../auth/register.js';
import { accountKey } from '../auth/rules.js';
import type { UsersStore } from './queries.js';

export interface ManagedDeps {
  auth: AuthStore;
  users: UsersStore;
  clock: Clock;
  endSession(sessionId: string): void;
  endUser(userId: string): void;
  reconnectUser(userId: string): void;
  stopWork(userId: string): Promise<void>;
}

export interface NewManagedAccount {
  orgId: string;
  /** Usernames are `<prefix>-<n>`. */
  prefix: string;
  /** Left out if another account has it. */
  email: string | null;
}

/** Accounts that the identity provider of an organization creates and disables. No password. */
export const createManagedAccounts = (deps: ManagedDeps) => {
  const { auth, users, clock } = deps;
  return {
    /** Number of accounts that the organization manages, also disabled ones. */
    count: users.countManaged,

    /**
     * Resolves to the ID. Throws `UniqueViolation` if a step of `also` violates a constraint, and
     * `ExpectationFailed` if one is not met.
     */
    create: async (
      { orgId, prefix, email: given }: NewManagedAccount,
      also: (userId: string) => TransactionStep[],
    ): Promise<string> => {
      const now = clock.now();
      const id = mint('user', now);
      let email = given;
      for (let n = (await users.countManaged(orgId)) + 1; ; ) {
        const username = `${prefix}-${n}`;
        const row = {
          id,
          username,
          username_key: accountKey(username),
          username_skeleton: await computeNameSkeleton(username),
          email,
          email_key: email === null ? null : accountKey(email),
          password_hash: '',
          created_at: iso(now),
        };
        try {
          await auth.insertManaged(row, orgId, also(id));
          return id;
        } catch (error) {
          if (!(error instanceof UniqueViolation)) throw error;
          if (error.message.includes('users.email_key')) email = null;
          else if (error.message.includes('users.username')) n++;
          else throw error;
        }
      }
    },

    /**
     * False if the account is not managed by this organization. Everything of a disabled user has
     * ended when this resolves.
     */
    setDisabled: async (
      { userId, orgId }: { userId: string; orgId: string },
      isDisabled: boolean,
      also: TransactionStep[],
    ): Promise<boolean> => {
      if ((await users.managerOf(userId)) !== orgId) return false;
      const at = iso(clock.now());
      const ended = await users.update(userId, { disabled: isDisabled }, { at, also });
      if (!ended) return false;
      for (const session of ended) deps.endSession(session);
      if (isDisabled) {
        deps.endUser(userId);
        await deps.stopWork(userId);
      }
      return true;
    },

    /**
     * After the end of a membership. Ends the sessions of single sign-on if the organization manages
     * the account.
     */
    endMembership: async ({ userId, orgId }: { userId: string; orgId: string }): Promise<void> => {
      if ((await users.managerOf(userId)) === orgId) {
        const ended = await users.endSsoSessions(userId, iso(clock.now()));
        for (const session of ended ?? []) deps.endSession(session);
      }
      deps.reconnectUser(userId);
    },
  };
};

export type ManagedAccounts = ReturnType<typeof createManagedAccounts>;
