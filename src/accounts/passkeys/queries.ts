import {
  type Statement,
  type TransactionStep,
  UniqueViolation,
} from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { countRows, deleteRows, selectRows, updateRows } from '../../store/rows.js';
import { assertRows, type Store, statement } from '../../store/store.js';
import {
  type PasskeyChallengeRow,
  type PasskeyGrantRow,
  type PasskeyRow,
  passkeyChallengeTable,
  passkeyGrantTable,
  passkeyTable,
} from '../../store/tables/accounts.js';

export const passkeysStore = (store: Store) => {
  const { db } = store;
  return {
    list: (userId: string, page: PageInput): Promise<Page<PasskeyRow>> =>
      newestFirst(selectRows(db, passkeyTable, { user_id: userId }), page),

    all: (userId: string): Promise<PasskeyRow[]> =>
      selectRows(db, passkeyTable, { user_id: userId }).execute(),

    byCredential: (relying_party: string, credential_id: string): Promise<PasskeyRow | undefined> =>
      selectRows(db, passkeyTable, { relying_party, credential_id }).executeTakeFirst(),

    /** Resolves to false if the passkey is already registered, or a step of `also` was not met. */
    insert: async (passkey: PasskeyRow, also: TransactionStep[]): Promise<boolean> => {
      try {
        const insert = statement(db.insertInto('passkeys').values(passkey), 1);
        return await store.tryTransact([insert, ...also]);
      } catch (error) {
        if (!(error instanceof UniqueViolation)) throw error;
        return false;
      }
    },

    isThere: (id: string): Statement =>
      assertRows(db.selectFrom('passkeys').select('id').where('id', '=', id), 1),

    /** Returns false if another login was first, or the counter did not grow (WebAuthn, 6.1.1). */
    use: async (id: string, use: { counter: number; at: string }): Promise<boolean> => {
      const { numUpdatedRows } = await updateRows(db, passkeyTable, { id })
        .set({ counter: use.counter, last_used_at: use.at })
        .where((row) =>
          row.or([
            row('counter', '<', use.counter),
            row.and([row('counter', '=', 0), row.lit(use.counter === 0)]),
          ]),
        )
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    /**
     * Keeps the user's last way to log in: no password, and no other passkey under a name that works.
     * The statement decides, so that one of two concurrent deletions is refused.
     */
    delete: async (
      { userId, id, works }: { userId: string; id: string; works: string[] },
      also: TransactionStep[],
    ): Promise<'deleted' | 'kept' | 'missing'> => {
      if ((await countRows(db, passkeyTable, { user_id: userId, id })) === 0) return 'missing';
      const removal = deleteRows(db, passkeyTable, { user_id: userId, id }).where(
        ({ exists, or, selectFrom }) =>
          or([
            exists(
              selectFrom('users')
                .select('users.id')
                .where('users.id', '=', userId)
                .where('users.password_hash', '<>', ''),
            ),
            exists(
              selectFrom('passkeys as other')
                .select('other.id')
                .where('other.user_id', '=', userId)
                .where('other.id', '<>', id)
                .where('other.relying_party', 'in', works),
            ),
          ]),
      );
      const isDone = await store.tryTransact([statement(removal, 1), ...also]);
      return isDone ? 'deleted' : 'kept';
    },

    /** Also deletes expired challenges. */
    keepChallenge: async (challenge: PasskeyChallengeRow, now: string): Promise<void> => {
      const { id, ...rest } = challenge;
      await store.transact([
        statement(db.deleteFrom('passkey_challenges').where('expires_at', '<=', now)),
        statement(
          db
            .insertInto('passkey_challenges')
            .values({ id, ...rest })
            .onConflict((on) => on.column('id').doUpdateSet(rest)),
          1,
        ),
      ]);
    },

    /** Deletes the challenge, so that it can be used only once, whatever the result. */
    takeChallenge: (
      { id, purpose }: Pick<PasskeyChallengeRow, 'id' | 'purpose'>,
      now: string,
    ): Promise<PasskeyChallengeRow | undefined> =>
      deleteRows(db, passkeyChallengeTable, { id, purpose })
        .where('expires_at', '>', now)
        .returning(passkeyChallengeTable.columns)
        .executeTakeFirst(),

    keepGrant: async (
      grant: PasskeyGrantRow,
      now: string,
      also: TransactionStep[],
    ): Promise<void> => {
      await store.transact([
        statement(db.deleteFrom('passkey_grants').where('expires_at', '<=', now)),
        statement(db.insertInto('passkey_grants').values(grant), 1),
        ...also,
      ]);
    },

    takeGrant: (codeDigest: string, now: string): Promise<PasskeyGrantRow | undefined> =>
      db
        .deleteFrom('passkey_grants')
        .where('code_digest', '=', codeDigest)
        .where('expires_at', '>', now)
        .returning(passkeyGrantTable.columns)
        .executeTakeFirst(),
  };
};

export type PasskeysStore = ReturnType<typeof passkeysStore>;
