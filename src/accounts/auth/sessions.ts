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
import type { KnownUser } from './queries.js';

/** The sealed secret of the second factor that logins of a row of `users` need, or NULL. */
export const FACTOR = sql<string | null>`(SELECT totp.sealed FROM totp
  WHERE totp.user_id = users.id AND totp.enabled_at IS NOT NULL)`;

/** A valid session with its user. */
export interface LiveLoginSession
  extends Pick<
    AuthSessionRow,
    | 'id'
    | 'user_id'
    | 'created_at'
    | 'proven_at'
    | 'expires_at'
    | 'last_used_at'
    | 'impersonator_id'
    | 'impersonator_session_id'
  > {
  username: string;
  role: UserRow['role'];
  /** Name of the admin. */
  impersonator: string | null;
}

type NewSession = Pick<
  AuthSessionRow,
  'id' | 'user_id' | 'device' | 'address' | 'created_at' | 'proven_at' | 'expires_at'
>;

/** An account as a login read it, before the login was verified. */
export type LoginBasis = Pick<KnownUser, 'id' | 'password_hash' | 'login_epoch' | 'factor'>;

/** The changes that a successful login commits with its session. */
interface LoginCommit {
  basis: LoginBasis;
  /** Earlier failures from that source, under each name of the account, which are deleted. */
  failures: { accounts: string[]; address: string };
  also: TransactionStep[];
}

/** A change from one hash to another. The session in which it is made continues. */
interface PasswordChange {
  userId: string;
  sessionId: string;
  from: string;
  to: string;
  at: string;
}
export const sessionsOf = (store: Store) => {
  const { db } = store;
  return {
    /**
     * Begins a session if the account is still as the login read it. Resolves to false if the
     * password or the second factor was changed meanwhile, the account was disabled, or a step of
     * `also` was not met.
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

    /**
     * Returns a step that is unmet if the session has ended, so that nothing permanent is made in
     * an ended session.
     */
    sessionHolds: (id: string, now: string): Statement =>
      assertRows(
        selectRows(db, authSessionTable, { id, ended_at: null }).where('expires_at', '>', now),
        1,
      ),

    /**
     * Returns a session that is valid: not ended, not expired, with a user who is not disabled. A
     * session in which an admin acts as a user is valid only while the admin's own session is,
     * while the admin is an admin, and while the user is not one.
     */
    liveSession: (id: string, now: string): Promise<LiveLoginSession | undefined> =>
      db
        .selectFrom('auth_sessions as s')
        .innerJoin('users as u', 'u.id', 's.user_id')
        .leftJoin('auth_sessions as own', 'own.id', 's.impersonator_session_id')
        .leftJoin('users as admin', 'admin.id', 's.impersonator_id')
        .select(['s.id', 's.user_id', 's.created_at', 's.proven_at', 's.expires_at'])
        .select('s.last_used_at')
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
     * Sets the password if it is still the one that was verified, and ends the user's other
     * sessions. Resolves to their ids, or to null if the password was changed meanwhile.
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

/** Returns a step that is unmet if the account is not as it was read. */
const unchanged = ({ db }: Store, basis: LoginBasis): Statement => {
  const { id, password_hash, login_epoch, factor } = basis;
  const same = { id, password_hash, login_epoch, disabled_at: null };
  return assertRows(selectRows(db, userTable, same, sql<boolean>`${FACTOR} IS ${factor}`), 1);
};
