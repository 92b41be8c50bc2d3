import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { type AuthSessionRow, authSessionTable } from '../../store/tables/accounts.js';

const SESSION = [
  'id',
  'device',
  'address',
  'created_at',
  'proven_at',
  'expires_at',
  'last_used_at',
  'sso_expires_at',
] as const;
export type LoginRow = Pick<AuthSessionRow, (typeof SESSION)[number]>;

export const loginsStore = (store: Store) => {
  const { db } = store;
  const live = (userId: string, now: string) =>
    db
      .selectFrom('auth_sessions')
      .select(SESSION)
      .where('user_id', '=', userId)
      .where('ended_at', 'is', null)
      .where('expires_at', '>', now);

  return {
    list: async (userId: string, page: PageInput, now: string): Promise<Page<LoginRow>> => {
      return newestFirst(live(userId, now), page);
    },

    find: (userId: string, id: string, now: string): Promise<LoginRow | undefined> =>
      live(userId, now).where('id', '=', id).executeTakeFirst(),

    /** Resolves to false if the user has no such session. */
    end: (
      { userId, id, now }: { userId: string; id: string; now: string },
      also: TransactionStep[],
    ): Promise<boolean> => {
      const end = updateRows(db, authSessionTable, { user_id: userId, id, ended_at: null })
        .set({ ended_at: now })
        .where('expires_at', '>', now);
      return store.tryTransact([statement(end, 1), ...also]);
    },

    /** Never shortens a session. Resolves to false if it has ended. */
    extend: async (userId: string, id: string, expiresAt: string): Promise<boolean> => {
      const { numUpdatedRows } = await updateRows(db, authSessionTable, {
        user_id: userId,
        id,
        ended_at: null,
      })
        .set((of) => ({ expires_at: of.fn('max', ['expires_at', of.val(expiresAt)]) }))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
  };
};

export type LoginsStore = ReturnType<typeof loginsStore>;
