import { sql } from 'kysely';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import { selectRows, updateRows } from '../../store/rows.js';
import { assertRows, type Store, statement } from '../../store/store.js';
import {
  type AuthSessionRow,
  authSessionTable,
  type UserRow,
  userTable,
} from '../../store/tables/accounts.js';

/** Sealed secret of the second factor that logins of a `users` row need, or NULL. */
export const FACTOR = sql<string | null>`(SELECT totp.sealed FROM totp
  WHERE totp.user_id = users.id AND totp.enabled_at IS NOT NULL)`;

export interface LiveLoginSession
  extends Pick<
    AuthSessionRow,
    | 'id'
    | 'user_id'
    | 'created_at'
    | 'proven_at'
    | 'expires_at'
    | 'last_used_at'
    | 'sso_expires_at'
    | 'impersonator_id'
    | 'impersonator_session_id'
  > {
  username: string;
  role: UserRow['role'];
  /** Username of the admin. */
  impersonator: string | null;
}

type NewSession = Pick<
  AuthSessionRow,
  | 'id'
  | 'user_id'
  | 'device'
  | 'address'
  | 'created_at'
  | 'proven_at'
  | 'expires_at'
  | 'sso_expires_at'
>;

/** The account as it was before the login was verified. */
export type LoginBasis = Pick<KnownUser, 'id' | 'password_hash' | 'login_epoch' | 'factor'>;

interface LoginCommit {
  basis: LoginBasis;
  /** Earlier failures to delete. `accounts` are the names of the account. */
  failures: { accounts: string[]; address: string };
  also: TransactionStep[];
}

/** Password hashes before and after. The session in which the change is made continues. */
interface PasswordChange {
  userId: string;
  sessionId: string;
  from: string;
  to: string;
  at: string;
}

export const createLoginSessionQueries = (store: Store) => {
  const { db } = store;
  return {
    /**
     * Resolves to false if the password or second factor was changed meanwhile, the account was
     * disabled, or a step of `also` was not met.
     */
    insertSession: (
      session: NewSession,
      { basis, failures, also }: LoginCommit,
    ): Promise<boolean> =>
      store.tryTransact([
        unchanged(store, basis),
        statement(db.insertInto('auth_sessions').values({ ...session, ended_at: null }), 1),
        statement(
          db
            .deleteFrom('login_failures')
            .where('account', 'in', failures.accounts)
            .where('address', '=', failures.address),
        ),
        ...also,
      ]),

    /** Unmet if the session has ended, so that nothing permanent is created in it. */
    sessionHolds: (id: string, now: string): Statement =>
      assertRows(
        selectRows(db, authSessionTable, { id, ended_at: null }).where('expires_at', '>', now),
        1,
      ),

    /**
     * Returns a session that has not ended or expired, of a user who is not disabled. A session of
     * an impersonating admin is valid only while the admin's own session is, while the admin is an
     * admin, and while the user is not one.
     */
    liveSession: (id: string, now: string): Promise<LiveLoginSession | undefined> =>
      db
        .selectFrom('auth_sessions as s')
        .innerJoin('users as u', 'u.id', 's.user_id')
        .leftJoin('auth_sessions as own', 'own.id', 's.impersonator_session_id')
        .leftJoin('users as admin', 'admin.id', 's.impersonator_id')
        .select(['s.id', 's.user_id', 's.created_at', 's.proven_at', 's.expires_at'])
        .select(['s.last_used_at', 's.sso_expires_at'])
        .select(['u.username', 'u.role'])
        .select(['s.impersonator_id', 's.impersonator_session_id'])
        .select('admin.username as impersonator')
        .where('s.id', '=', id)
        .where('s.ended_at', 'is', null)
        .where('s.expires_at', '>', now)
        .where('u.disabled_at', 'is', null)
        .where((of) =>
          of.or([
            of('s.impersonator_id', 'is', null),
            of.and([
              of('u.role', '=', 'user'),
              of('admin.role', '=', 'admin'),
              of('admin.disabled_at', 'is', null),
              of('own.ended_at', 'is', null),
              of('own.expires_at', '>', now),
            ]),
          ]),
        )
        .executeTakeFirst(),

    endSession: async (id: string, at: string): Promise<void> => {
      await updateRows(db, authSessionTable, { id }).set({ ended_at: at }).execute();
    },

    sessionUsed: async (id: string, at: string): Promise<void> => {
      await updateRows(db, authSessionTable, { id }).set({ last_used_at: at }).execute();
    },

    /**
     * Also ends the user's other sessions and resolves to their IDs. Resolves to null if the
     * password was changed meanwhile.
     */
    changePassword: async (
      change: PasswordChange,
      also: TransactionStep[],
    ): Promise<string[] | null> => {
      const { userId, from, to, sessionId, at } = change;
      const same = { id: userId, password_hash: from };
      const set = updateRows(db, userTable, same).set({ password_hash: to });
      const others = updateRows(db, authSessionTable, { user_id: userId })
        .set({ ended_at: at })
        .where('id', '<>', sessionId)
        .where('ended_at', 'is', null)
        .where('expires_at', '>', at);
      if (!(await store.tryTransact([statement(set, 1), statement(others), ...also]))) return null;
      const ended = selectRows(db, authSessionTable, { user_id: userId, ended_at: at });
      return (await ended.execute()).map(({ id }) => id);
    },
  };
};

const unchanged = ({ db }: Store, basis: LoginBasis): Statement => {
  const { id, password_hash, login_epoch, factor } = basis;
  const same = { id, password_hash, login_epoch, disabled_at: null };
  return assertRows(selectRows(db, userTable, same, sql<boolean>`${FACTOR} IS ${factor}`), 1);
};

export type KnownUser = UserRow & {
  passkeys: number;
  /** Number of verified channels. */
  channels: number;
  /** Sealed secret of the second factor; null if logins need none. */
  factor: string | null;
  /** Number of unused recovery codes. */
  recovery_codes: number;
  /** 1 if only the identity provider of the organization may log in the user. */
  sso_required: number;
};
