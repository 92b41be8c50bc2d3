import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst } from '../../store/page.js';
import { type Store, statement, unlessUnmet } from '../../store/store.js';
import type { AccessTokenRow, UserRow } from '../../store/tables/accounts.js';

/** A valid token with its user. */
export type LiveToken = Pick<AccessTokenRow, 'id' | 'user_id' | 'scopes' | 'last_used_at'> &
  Pick<UserRow, 'username' | 'role'>;

const TOKEN = [
  'id',
  'user_id',
  'name',
  'scopes',
  'created_at',
  'expires_at',
  'last_used_at',
] as const;

export const tokensStore = (store: Store) => {
  const { db } = store;
  const perform = (steps: TransactionStep[]): Promise<boolean> =>
    unlessUnmet(store.transact(steps));

  const live = (userId: string, now: string) =>
    db
      .selectFrom('access_tokens')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('user_id', '=', userId)
      .where('expires_at', '>', now);

  return {
    countLive: async (userId: string, now: string): Promise<number> =>
      (await live(userId, now).executeTakeFirstOrThrow()).count,

    list: async (
      userId: string,
      page: { limit: number; cursor?: string },
    ): Promise<{ rows: AccessTokenRow[]; nextCursor: string | null }> => {
      const query = db.selectFrom('access_tokens').select(TOKEN).where('user_id', '=', userId);
      return newestFirst(query, page);
    },

    /**
     * Inserts a token in one transaction with `also`. Resolves to false if its user has `most`
     * valid tokens already.
     */
    insert: (row: AccessTokenRow, most: number, also: TransactionStep[]): Promise<boolean> =>
      perform([
        statement(
          db
            .insertInto('access_tokens')
            .columns([...TOKEN])
            .expression(
              db
                .selectNoFrom((of) => TOKEN.map((column) => of.val(row[column]).as(column)))
                .where(live(row.user_id, row.created_at), '<', most),
            ),
          1,
        ),
        ...also,
      ]),

    /** Deletes a token. Resolves to false if that user has no such token. */
    delete: (userId: string, id: string, also: TransactionStep[]): Promise<boolean> =>
      perform([
        statement(
          db.deleteFrom('access_tokens').where('user_id', '=', userId).where('id', '=', id),
          1,
        ),
        ...also,
      ]),

    /**
     * Returns a token that is valid: it exists and has not expired, and its user is not disabled.
     */
    live: (id: string, now: string): Promise<LiveToken | undefined> =>
      db
        .selectFrom('access_tokens as t')
        .innerJoin('users as u', 'u.id', 't.user_id')
        .select(['t.id', 't.user_id', 't.scopes', 't.last_used_at', 'u.username', 'u.role'])
        .where('t.id', '=', id)
        .where('t.expires_at', '>', now)
        .where('u.disabled_at', 'is', null)
        .executeTakeFirst(),

    used: async (id: string, at: string): Promise<void> => {
      await db
        .updateTable('access_tokens')
        .set({ last_used_at: at })
        .where('id', '=', id)
        .execute();
    },
  };
};

export type TokensStore = ReturnType<typeof tokensStore>;
