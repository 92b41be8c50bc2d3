import { sql } from 'kysely';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { insertUpTo, selectCount, selectRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { loginFailureTable, type UserRow, userTable } from '../../store/tables/accounts.js';
import { isPerson } from '../../store/visible.js';
import { createDeviceQueries } from './devices.js';
import { createLoginSessionQueries, FACTOR, type KnownUser } from './sessions.js';

export type NewUser = Omit<
  UserRow,
  'role' | 'disabled_at' | 'login_epoch' | 'limits' | 'permissions' | 'managed_by'
>;

const PASSKEYS = sql<number>`(SELECT count(*) FROM passkeys WHERE passkeys.user_id = users.id)`.as(
  'passkeys',
);

const CHANNELS = sql<number>`(SELECT count(*) FROM channels
  WHERE channels.user_id = users.id AND channels.verified_at IS NOT NULL)`.as('channels');

const RECOVERY_CODES = sql<number>`(SELECT count(*) FROM recovery_codes
  WHERE recovery_codes.user_id = users.id AND recovery_codes.used_at IS NULL)`.as('recovery_codes');

/** Owners can still repair the settings of the organization. */
const SSO_REQUIRED = sql<number>`EXISTS (SELECT 1 FROM org_sso
  JOIN orgs ON orgs.id = org_sso.org_id
  WHERE org_sso.org_id = users.managed_by AND org_sso.enabled = 1 AND org_sso.enforced = 1
    AND orgs.approved_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM org_members AS m
      WHERE m.org_id = org_sso.org_id AND m.user_id = users.id AND m.role = 'owner'))`.as(
  'sso_required',
);

const COUNTS = [PASSKEYS, CHANNELS, FACTOR.as('factor'), RECOVERY_CODES, SSO_REQUIRED] as const;

export const authStore = (store: Store) => ({
  ...createUserQueries(store),
  ...createLoginSessionQueries(store),
  ...createDeviceQueries(store),
  ...createLoginFailureQueries(store),
});

const createUserQueries = (store: Store) => {
  const { db } = store;
  const byId = (id: string) => selectRows(db, userTable, { id }).select(COUNTS);
  return {
    /** The first user becomes the admin. The statement decides, so that concurrent ones cannot both. */
    insertUser: async (user: NewUser, also: TransactionStep[]): Promise<KnownUser> => {
      const role = sql<'admin' | 'user'>`iif(EXISTS (SELECT 1 FROM users), 'user', 'admin')`;
      const insert = db.insertInto('users').values({ ...user, role, disabled_at: null });
      await store.transact([statement(insert, 1), ...also]);
      return byId(user.id).executeTakeFirstOrThrow();
    },

    /** Returns null if there is an account already. */
    insertFirst: async (user: NewUser, also: TransactionStep[]): Promise<KnownUser | null> => {
      const row = { ...user, role: 'admin' as const, disabled_at: null, login_epoch: 0 };
      const count = selectCount(db, userTable, {});
      const insert = insertUpTo(db, userTable, row, { count, most: 1 });
      const isDone = await store.tryTransact([statement(insert, 1), ...also]);
      return isDone ? byId(user.id).executeTakeFirstOrThrow() : null;
    },

    insertInvited: async (
      user: NewUser,
      role: UserRow['role'],
      spend: (steps: TransactionStep[]) => Promise<void>,
    ): Promise<KnownUser> => {
      const insert = db.insertInto('users').values({ ...user, role, disabled_at: null });
      await spend([statement(insert, 1)]);
      return byId(user.id).executeTakeFirstOrThrow();
    },

    /** An account without a password, of the role `user`. */
    insertManaged: async (user: NewUser, orgId: string, also: TransactionStep[]): Promise<void> => {
      const row = { ...user, role: 'user' as const, disabled_at: null, managed_by: orgId };
      await store.transact([statement(db.insertInto('users').values(row), 1), ...also]);
    },

    /** Names without a stored skeleton, in order, starting after `after`. */
    olderNames: async (after: string, limit: number): Promise<string[]> => {
      const rows = await db
        .selectFrom('users')
        .select('username')
        .where('username_skeleton', 'is', null)
        .where('username', '>', after)
        .where(isPerson())
        .orderBy('username')
        .limit(limit)
        .execute();
      return rows.map(({ username }) => username);
    },

    hasUsers: async (): Promise<boolean> =>
      (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined,

    userById: (id: string): Promise<KnownUser | undefined> => byId(id).executeTakeFirst(),

    userByKey: (key: string): Promise<KnownUser | undefined> =>
      selectRows(db, userTable, {})
        .select(COUNTS)
        .where((row) => row.or([row('username_key', '=', key), row('email_key', '=', key)]))
        .executeTakeFirst(),
  };
};

const createLoginFailureQueries = ({ db }: Store) => ({
  failures: ({ account, address }: FailureKey) =>
    selectRows(db, loginFailureTable, { account, address }).executeTakeFirst(),

  /** From all sources. */
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
});

export type AuthStore = ReturnType<typeof authStore>;
export interface FailureKey {
  account: string;
  /** A network, or the key used behind a shared address. */
  address: string;
}
