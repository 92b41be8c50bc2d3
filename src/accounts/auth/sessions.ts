import { sql } from 'kysely';
import { type Statement, type TransactionStep, Unmet } from '../../store/engine/protocol.js';
import { type Store, statement, unlessUnmet } from '../../store/store.js';
import type { AuthSessionRow, UserRow } from '../../store/tables/accounts.js';
import type { KnownUser } from './queries.js';

/** The sealed secret of the second factor that logins of a row of `users` need, else NULL. */
export const FACTOR = sql<string | null>`(SELECT totp.sealed FROM totp
  WHERE totp.user_id = users.id AND totp.enabled_at IS NOT NULL)`;

/** A session that counts, and whose it is. */
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
  /** The admin's name. */
  impersonator: string | null;
}

type NewSession = Pick<
  AuthSessionRow,
  'id' | 'user_id' | 'device' | 'address' | 'created_at' | 'proven_at' | 'expires_at'
>;

/** An account as a login read it, before it was judged. */
export type LoginBasis = Pick<KnownUser, 'id' | 'password_hash' | 'login_epoch' | 'factor'>;

/** What a login that passed writes with its session. */
interface Passed {
  basis: LoginBasis;
  /** What had failed before from there, by whichever name, is forgotten. */
  failures: { accounts: string[]; address: string };
  also: TransactionStep[];
}

/** From one hash to another, at a time; the session in which it is done goes on. */
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
     * Begins a session where its account still is as the login read it. false: the password or the
     * second factor is another by now, the account was disabled meanwhile, or a step of `also` was
     * not met.
     */
    insertSession: (session: NewSession, { basis, failures, also }: Passed): Promise<boolean> =>
      unlessUnmet(
        store.transact([
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
      ),

    /** Unmet where the session has ended: nothing that lasts is made in one that is over. */
    sessionHolds: (id: string, now: string): Statement =>
      statement(
        db
          .updateTable('auth_sessions')
          .set((of) => ({ ended_at: of.ref('ended_at') }))
          .where('id', '=', id)
          .where('ended_at', 'is', null)
          .where('expires_at', '>', now),
        1,
      ),

    /**
     * A session that still counts: not ended, not over, its user there and not disabled. One in
     * which an admin acts as a user counts no longer than the admin's own, nor than he is an admin
     * and the user is none.
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
      await db.updateTable('auth_sessions').set({ ended_at: at }).where('id', '=', id).execute();
    },

    sessionUsed: async (id: string, at: string): Promise<void> => {
      await db
        .updateTable('auth_sessions')
        .set({ last_used_at: at })
        .where('id', '=', id)
        .execute();
    },

    /**
     * Sets the password where it is still the one that was proven, and ends the user's other
     * sessions; resolves to their ids. null: it is another by now.
     */
    changePassword: async (
      change: PasswordChange,
      also: TransactionStep[],
    ): Promise<string[] | null> => {
      const { userId, from, to, sessionId, at } = change;
      const set = db.updateTable('users').set({ password_hash: to });
      const others = db
        .updateTable('auth_sessions')
        .set({ ended_at: at })
        .where('user_id', '=', userId)
        .where('id', '<>', sessionId)
        .where('ended_at', 'is', null)
        .where('expires_at', '>', at);
      try {
        await store.transact([
          statement(set.where('id', '=', userId).where('password_hash', '=', from), 1),
          statement(others),
          ...also,
        ]);
      } catch (error) {
        if (!(error instanceof Unmet)) throw error;
        return null;
      }
      const ended = await db
        .selectFrom('auth_sessions')
        .select('id')
        .where('user_id', '=', userId)
        .where('ended_at', '=', at)
        .execute();
      return ended.map(({ id }) => id);
    },
  };
};

/** Changes nothing, and is unmet where the account is not as it was read. */
const unchanged = ({ db }: Store, { id, ...read }: LoginBasis): Statement =>
  statement(
    db
      .updateTable('users')
      .set((of) => ({ login_epoch: of.ref('login_epoch') }))
      .where('id', '=', id)
      .where('password_hash', '=', read.password_hash)
      .where('login_epoch', '=', read.login_epoch)
      .where('disabled_at', 'is', null)
      .where(sql<boolean>`${FACTOR} IS ${read.factor}`),
    1,
  );
