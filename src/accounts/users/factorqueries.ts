import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { deleteRows, selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import {
  type PasskeyRow,
  passkeyTable,
  totpTable,
  userTable,
} from '../../store/tables/accounts.js';
import { endedSessionIds, endSessions, forgetDevices, NEXT_EPOCH } from './revoke.js';

export interface Removal {
  id: string;
  at: string;
  before: TransactionStep[];
  after: TransactionStep[];
}

export const factorsStore = (store: Store) => {
  const { db } = store;
  /** The statements check the role, since a user may become an admin meanwhile. */
  const users = () => db.selectFrom('users').select('id').where('role', '=', 'user');

  /** Invalidates logins in progress. */
  const outdated = (id: string) =>
    statement(updateRows(db, userTable, { id }).set({ login_epoch: NEXT_EPOCH }), 1);

  return {
    hasTotp: async (userId: string): Promise<boolean> => {
      const factor = selectRows(db, totpTable, { user_id: userId });
      return (await factor.where('enabled_at', 'is not', null).executeTakeFirst()) !== undefined;
    },

    passkeys: (userId: string, page: PageInput): Promise<Page<PasskeyRow>> =>
      newestFirst(selectRows(db, passkeyTable, { user_id: userId }), page),

    passkey: (userId: string, id: string): Promise<PasskeyRow | undefined> =>
      selectRows(db, passkeyTable, { user_id: userId, id }).executeTakeFirst(),

    /** Resolves to the sessions that end; null if there is no app, or the user is an admin. */
    removeTotp: ({ id, at, before, after }: Removal): Promise<string[] | null> => {
      const factor = db
        .deleteFrom('totp')
        .where('user_id', '=', id)
        .where('user_id', 'in', users());
      const codes = db.deleteFrom('recovery_codes').where('user_id', '=', id);
      return endedSessionIds(store, [
        ...before,
        statement(factor, 1),
        statement(codes),
        outdated(id),
        endSessions(db, id, at),
        ...forgetDevices(db, id),
        ...after,
      ]);
    },

    removePasskey: (
      passkeyId: string,
      { id, at, before, after }: Removal,
    ): Promise<string[] | null> => {
      const passkey = deleteRows(db, passkeyTable, { id: passkeyId, user_id: id }).where(
        'user_id',
        'in',
        users(),
      );
      return endedSessionIds(store, [
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
