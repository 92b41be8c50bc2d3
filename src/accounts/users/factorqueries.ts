import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst } from '../../store/page.js';
import { type Store, statement } from '../../store/store.js';
import type { PasskeyRow } from '../../store/tables/accounts.js';
import { ended, endSessions, forgetDevices, NEXT_EPOCH } from './revoke.js';

/**
 * The user from whom a factor is removed, and the steps that are committed with it, all or nothing.
 */
export interface Removal {
  id: string;
  at: string;
  before: TransactionStep[];
  after: TransactionStep[];
}

const PASSKEY = ['id', 'name', 'relying_party', 'created_at', 'last_used_at'] as const;
type Shown = Pick<PasskeyRow, (typeof PASSKEY)[number]>;

/** Queries with which admins see and remove the second factors and passkeys of others. */
export const factorsStore = (store: Store) => {
  const { db } = store;
  /** The statements check the role themselves, since a user may become an admin meanwhile. */
  const users = () => db.selectFrom('users').select('id').where('role', '=', 'user');

  /** Invalidates a login under way. */
  const outdated = (id: string) =>
    statement(db.updateTable('users').set({ login_epoch: NEXT_EPOCH }).where('id', '=', id), 1);

  return {
    hasTotp: async (userId: string): Promise<boolean> => {
      const row = await db
        .selectFrom('totp')
        .select('user_id')
        .where('user_id', '=', userId)
        .where('enabled_at', 'is not', null)
        .executeTakeFirst();
      return row !== undefined;
    },

    passkeys: async (
      userId: string,
      page: { limit: number; cursor?: string },
    ): Promise<{ rows: Shown[]; nextCursor: string | null }> => {
      const query = db.selectFrom('passkeys').select(PASSKEY).where('user_id', '=', userId);
      return newestFirst(query, page);
    },

    passkey: (userId: string, id: string): Promise<Shown | undefined> =>
      db
        .selectFrom('passkeys')
        .select(PASSKEY)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst(),

    /**
     * Removes the authenticator app. Resolves to the sessions that end; null if there is none any
     * more, or the user is an admin.
     */
    removeTotp: ({ id, at, before, after }: Removal): Promise<string[] | null> => {
      const factor = db
        .deleteFrom('totp')
        .where('user_id', '=', id)
        .where('user_id', 'in', users());
      const codes = db.deleteFrom('recovery_codes').where('user_id', '=', id);
      return ended(store, [
        ...before,
        statement(factor, 1),
        statement(codes),
        outdated(id),
        endSessions(db, id, at),
        ...forgetDevices(db, id),
        ...after,
      ]);
    },

    /** Removes a passkey, with the same result. */
    removePasskey: (
      passkeyId: string,
      { id, at, before, after }: Removal,
    ): Promise<string[] | null> => {
      const passkey = db
        .deleteFrom('passkeys')
        .where('id', '=', passkeyId)
        .where('user_id', '=', id)
        .where('user_id', 'in', users());
      return ended(store, [
        ...before,
        statement(passkey, 1),
        outdated(id),
        endSessions(db, id, at),
        ...after,
      ]);
    },
  };
};

export type FactorsStore = ReturnType<typeof factorsStore>;
