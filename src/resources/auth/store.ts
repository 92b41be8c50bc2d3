import { sql } from 'kysely';
import type { Store } from '../../store/store.js';
import { statement } from '../../store/store.js';
import type { AuthSessionRow, UserRow } from '../../store/tables/accounts.js';

export type NewUser = Omit<UserRow, 'role' | 'disabled_at'>;

/** With how many passkeys it has, and whether (1) its logins need a code. */
export type KnownUser = UserRow & { passkeys: number; totp: number };

export interface Session
  extends Pick<AuthSessionRow, 'id' | 'user_id' | 'created_at' | 'expires_at'> {
  username: string;
  role: UserRow['role'];
}

const USER = [
  'id',
  'username',
  'username_key',
  'email',
  'email_key',
  'password_hash',
  'role',
  'disabled_at',
  'created_at',
] as const;
const PASSKEYS = sql<number>`(SELECT count(*) FROM passkeys WHERE passkeys.user_id = users.id)`.as(
  'passkeys',
);

const TOTP = sql<number>`EXISTS (SELECT 1 FROM totp
  WHERE totp.user_id = users.id AND totp.enabled_at IS NOT NULL)`.as('totp');

export const authStore = (store: Store) => {
  const { db } = store;
  return {
    /** The first user becomes the admin, decided in the statement, so that a race has one winner. */
    insertUser: async (user: NewUser): Promise<KnownUser> => {
      const role = sql<'admin' | 'user'>`iif(EXISTS (SELECT 1 FROM users), 'user', 'admin')`;
      return db
        .insertInto('users')
        .values({ ...user, role, disabled_at: null })
        .returning([...USER, PASSKEYS, TOTP])
        .executeTakeFirstOrThrow();
    },

    hasUsers: async (): Promise<boolean> =>
      (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined,

    userById: (id: string): Promise<KnownUser | undefined> =>
      db
        .selectFrom('users')
        .select([...USER, PASSKEYS, TOTP])
        .where('id', '=', id)
        .executeTakeFirst(),

    userByKey: (key: string): Promise<KnownUser | undefined> =>
      db
        .selectFrom('users')
        .select([...USER, PASSKEYS, TOTP])
        .where((row) => row.or([row('username_key', '=', key), row('email_key', '=', key)]))
        .executeTakeFirst(),

    /** Begins a session and forgets the failures that came before it. */
    insertSession: async (
      session: Omit<AuthSessionRow, 'ended_at'>,
      failures: { accounts: string[]; address: string },
    ) => {
      await store.transact([
        statement(db.insertInto('auth_sessions').values({ ...session, ended_at: null }), 1),
        statement(
          db
            .deleteFrom('login_failures')
            .where('account', 'in', failures.accounts)
            .where('address', '=', failures.address),
        ),
      ]);
    },

    /** A session that still counts: not ended, not over, its user there and not disabled. */
    liveSession: (id: string, now: string): Promise<Session | undefined> =>
      db
        .selectFrom('auth_sessions as s')
        .innerJoin('users as u', 'u.id', 's.user_id')
        .select(['s.id', 's.user_id', 's.created_at', 's.expires_at', 'u.username', 'u.role'])
        .where('s.id', '=', id)
        .where('s.ended_at', 'is', null)
        .where('s.expires_at', '>', now)
        .where('u.disabled_at', 'is', null)
        .executeTakeFirst(),

    endSession: async (id: string, at: string): Promise<void> => {
      await db.updateTable('auth_sessions').set({ ended_at: at }).where('id', '=', id).execute();
    },

    failures: ({ account, address }: FailureKey) =>
      db
        .selectFrom('login_failures')
        .select(['count', 'last_at'])
        .where('account', '=', account)
        .where('address', '=', address)
        .executeTakeFirst(),

    /** Failures of the account from anywhere. */
    failuresOfAccount: async (account: string, since: string): Promise<number> => {
      const row = await db
        .selectFrom('login_failures')
        .select((of) => of.fn.sum<number | null>('count').as('count'))
        .where('account', '=', account)
        .where('last_at', '>', since)
        .executeTakeFirst();
      return row?.count ?? 0;
    },

    addFailure: async ({ account, address }: FailureKey, at: string): Promise<void> => {
      await db
        .insertInto('login_failures')
        .values({ account, address, count: 1, last_at: at })
        .onConflict((on) =>
          on
            .columns(['account', 'address'])
            .doUpdateSet({ count: sql`login_failures.count + 1`, last_at: at }),
        )
        .execute();
    },
  };
};

export type AuthStore = ReturnType<typeof authStore>;
export interface FailureKey {
  account: string;
  address: string;
}
