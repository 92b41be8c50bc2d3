import { sql } from 'kysely';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { deleteRows, insertUpTo, selectCount, selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import {
  type AccessTokenRow,
  accessTokenTable,
  type UserRow,
} from '../../store/tables/accounts.js';

export type LiveToken = Pick<AccessTokenRow, 'id' | 'user_id' | 'scopes' | 'last_used_at'> &
  Pick<UserRow, 'username' | 'role'>;

export const tokensStore = (store: Store) => {
  const { db } = store;
  const perform = (steps: TransactionStep[]): Promise<boolean> => store.tryTransact(steps);

  const live = (userId: string, now: string) =>
    selectCount(db, accessTokenTable, { user_id: userId }).where('expires_at', '>', now);

  return {
    countLive: async (userId: string, now: string): Promise<number> =>
      (await live(userId, now).executeTakeFirstOrThrow()).count,

    list: (userId: string, page: PageInput): Promise<Page<AccessTokenRow>> =>
      newestFirst(selectRows(db, accessTokenTable, { user_id: userId }), page),

    /** Resolves to false if the user already has `most` valid tokens. */
    insert: (row: AccessTokenRow, most: number, also: TransactionStep[]): Promise<boolean> =>
      perform([
        statement(
          insertUpTo(db, accessTokenTable, row, { most, count: live(row.user_id, row.created_at) }),
          1,
        ),
        ...also,
      ]),

    /** Resolves to false if the user has no such token. */
    delete: (userId: string, id: string, also: TransactionStep[]): Promise<boolean> =>
      perform([statement(deleteRows(db, accessTokenTable, { user_id: userId, id }), 1), ...also]),

    /**
     * Returns a token that has not expired, of a user who is not disabled and, if an identity
     * provider manages the account, is a member there and has logged in there recently.
     */
    live: (id: string, now: string): Promise<LiveToken | undefined> =>
      db
        .selectFrom('access_tokens as t')
        .innerJoin('users as u', 'u.id', 't.user_id')
        .select(['t.id', 't.user_id', 't.scopes', 't.last_used_at', 'u.username', 'u.role'])
        .where('t.id', '=', id)
        .where('t.expires_at', '>', now)
        .where('u.disabled_at', 'is', null)
        .where(hasLoggedInBySso(now))
        .executeTakeFirst(),

    used: async (id: string, at: string): Promise<void> => {
      await updateRows(db, accessTokenTable, { id }).set({ last_used_at: at }).execute();
    },
  };
};

export type TokensStore = ReturnType<typeof tokensStore>;

const hasLoggedInBySso = (now: string) => sql<boolean>`(u.managed_by IS NULL OR EXISTS (
    SELECT 1 FROM org_members AS m WHERE m.org_id = u.managed_by AND m.user_id = u.id))
  AND NOT EXISTS (SELECT 1 FROM org_sso AS o
  JOIN org_identities AS i ON i.org_id = o.org_id AND i.user_id = u.id
  WHERE o.org_id = u.managed_by AND o.enabled = 1
    AND julianday(${now}) - julianday(coalesce(i.last_login_at, i.created_at)) > o.token_days)`;
