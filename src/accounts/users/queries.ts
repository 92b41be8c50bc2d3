import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { countRows, deleteRows, patchJson, selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import {
  type AuthSessionRow,
  type PasskeyRow,
  passkeyTable,
  type UserRow,
  userTable,
} from '../../store/tables/accounts.js';
import type { Tables } from '../../store/tables.js';
import { isPerson } from '../../store/visible.js';
import type { AccountChanges } from './contract.js';
import {
  enabledAdmins,
  endedSessionIds,
  endSessions,
  endSsoSessions,
  endTokens,
  forgetDevices,
  forgetFailures,
  NEXT_EPOCH,
  revocationStatements,
} from './revoke.js';

/** `totp` is 1 if logins require a code. */
export type AccountRow = Omit<
  UserRow,
  'password_hash' | 'login_epoch' | 'username_skeleton' | 'managed_by'
> & {
  passkeys: number;
  totp: number;
};

interface Filters extends PageInput {
  role?: UserRow['role'];
  disabled?: boolean;
  q?: string;
}

/** `also` is committed with the write. */
interface WriteContext {
  at: string;
  also: TransactionStep[];
}

export const usersStore = (store: Store) => {
  const { db } = store;
  const accounts = () =>
    db.selectFrom('users').select(COLUMNS).select([PASSKEYS, TOTP]).where(isPerson());
  const isNotTheLastAdmin = (id: string) => (of: ExpressionBuilder<Tables, 'users'>) =>
    of.or([
      of('id', 'not in', enabledAdmins(db)),
      of.exists(enabledAdmins(db).where('id', '<>', id)),
    ]);

  return {
    list: async (filters: Filters): Promise<Page<AccountRow>> => {
      const { role, disabled, q } = filters;
      let query = accounts();
      if (role) query = query.where('role', '=', role);
      if (disabled !== undefined) {
        query = query.where('disabled_at', disabled ? 'is not' : 'is', null);
      }
      if (q !== undefined) query = query.where(isNamed(q));
      return newestFirst(query, filters);
    },

    find: (id: string): Promise<AccountRow | undefined> =>
      accounts().where('id', '=', id).executeTakeFirst(),

    /** `key` is a normalized username or e-mail address. */
    findByKey: (key: string): Promise<AccountRow | undefined> =>
      accounts()
        .where((of) => of.or([of('username_key', '=', key), of('email_key', '=', key)]))
        .executeTakeFirst(),

    /**
     * Resolves to the sessions that were ended; null if there is no such user, or the change would
     * leave no enabled admin. The statement decides, so that two admins cannot demote each other.
     */
    update: async (id: string, changes: AccountChanges, { at, also }: WriteContext) => {
      const isLess = changes.role === 'user' || changes.disabled === true;
      const change = updateRows(db, userTable, { id })
        .set((of) => ({ created_at: of.ref('created_at'), ...buildAccountUpdate(changes, at) }))
        .$if(isLess, (query) => query.where(isNotTheLastAdmin(id)));
      return endedSessionIds(store, [
        statement(change, 1),
        ...revocationStatements(db, id, changes, at),
        ...also,
      ]);
    },

    /** After an admin disabled or enabled the account, the identity provider cannot enable it. */
    dropIdpDisable: (id: string): TransactionStep =>
      statement(
        db.updateTable('org_identities').set({ disabled_at: null }).where('user_id', '=', id),
      ),

    /**
     * Returns the organization whose identity provider manages the account. Null for an admin of the
     * installation.
     */
    managerOf: async (id: string): Promise<string | null> => {
      const row = db
        .selectFrom('users')
        .select('managed_by')
        .where('id', '=', id)
        .where('role', '=', 'user');
      return (await row.executeTakeFirst())?.managed_by ?? null;
    },

    endSsoSessions: (id: string, at: string) =>
      endedSessionIds(store, [endSsoSessions(db, id, at)]),

    countManaged: (orgId: string): Promise<number> =>
      countRows(db, userTable, { managed_by: orgId }),

    beginImpersonation: async (session: AuthSessionRow, also: TransactionStep[]): Promise<void> => {
      await store.transact([statement(db.insertInto('auth_sessions').values(session), 1), ...also]);
    },

    /** Oldest first. */
    passkeysOf: (id: string): Promise<OwnPasskey[]> =>
      selectRows(db, passkeyTable, { user_id: id }).orderBy('id').execute(),

    /**
     * Sets a password and enables the account. Ends all sessions and tokens, and removes the given
     * second factors and passkeys.
     */
    recover: async (
      id: string,
      { passwordHash, removes }: { passwordHash: string; removes: Removed },
      { at, also }: WriteContext,
    ): Promise<void> => {
      const set = updateRows(db, userTable, { id }).set({
        password_hash: passwordHash,
        disabled_at: null,
        login_epoch: NEXT_EPOCH,
      });
      const endings = [endSessions(db, id, at), endTokens(db, id, at), forgetFailures(db, id)];
      endings.push(...forgetDevices(db, id));
      await store.transact([statement(set, 1), ...removing(db, id, removes), ...endings, ...also]);
    },
  };
};

export interface Removed {
  totp: boolean;
  /** Ids of passkeys. */
  passkeys: readonly string[];
}
export type OwnPasskey = Pick<PasskeyRow, 'id' | 'name' | 'relying_party' | 'created_at'>;

const removing = (
  db: Kysely<Tables>,
  id: string,
  { totp, passkeys }: Removed,
): TransactionStep[] => [
  ...(totp
    ? [
        statement(db.deleteFrom('totp').where('user_id', '=', id)),
        statement(db.deleteFrom('recovery_codes').where('user_id', '=', id)),
      ]
    : []),
  ...passkeys.map((each) => statement(deleteRows(db, passkeyTable, { user_id: id, id: each }), 1)),
];

export type UsersStore = ReturnType<typeof usersStore>;

const COLUMNS = [
  'id',
  'username',
  'username_key',
  'email',
  'email_key',
  'role',
  'disabled_at',
  'created_at',
  'limits',
  'permissions',
] as const;
const PASSKEYS = sql<number>`(SELECT count(*) FROM passkeys WHERE user_id = users.id)`.as(
  'passkeys',
);
const TOTP = sql<number>`EXISTS (SELECT 1 FROM totp
  WHERE user_id = users.id AND enabled_at IS NOT NULL)`.as('totp');

const isNamed = (q: string) => {
  const part = q.normalize('NFKC').toLowerCase();
  return sql<boolean>`instr(username_key, ${part}) + instr(coalesce(email_key, ''), ${part}) > 0`;
};

const buildAccountUpdate = (
  { role, disabled, limits, permissions }: AccountChanges,
  at: string,
) => ({
  ...(role && { role }),
  ...(disabled !== undefined && {
    login_epoch: NEXT_EPOCH,
    disabled_at: disabled ? sql<string>`coalesce(disabled_at, ${at})` : null,
  }),
  ...(limits && { limits: patchJson('limits', limits) }),
  ...(permissions && { permissions: patchJson('permissions', permissions) }),
});
