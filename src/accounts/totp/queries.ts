import type { TransactionStep } from '../../store/engine/protocol.js';
import { selectRows, updateRows } from '../../store/rows.js';
import { assertRows, type Store, statement } from '../../store/store.js';
import { recoveryCodeTable, type TotpRow, totpTable } from '../../store/tables/accounts.js';

/** A code that was used for one purpose can still be used for another. */
export type Purpose = 'enable' | 'login' | 'disable';

export const totpStore = (store: Store) => {
  const { db } = store;
  return {
    find: (userId: string): Promise<TotpRow | undefined> =>
      selectRows(db, totpTable, { user_id: userId }).executeTakeFirst(),

    /** Stores a secret that is not required yet. Resolves to false if one is required already. */
    put: async (userId: string, sealed: string, at: string): Promise<boolean> => {
      const fresh = { sealed, created_at: at, enable_step: null };
      const put = db
        .insertInto('totp')
        .values({
          ...fresh,
          user_id: userId,
          enabled_at: null,
          login_step: null,
          disable_step: null,
        })
        .onConflict((on) =>
          on.column('user_id').doUpdateSet(fresh).where('totp.enabled_at', 'is', null),
        );
      return store.tryTransact([statement(put, 1)]);
    },

    /** Resolves to false if this or a later time step was used for that purpose before. */
    spend: (userId: string, purpose: Purpose, step: number): Promise<boolean> =>
      store.tryTransact([statement(spending(store, userId, purpose, step), 1)]),

    /**
     * Known devices are deleted. They were known by the password alone, and each would have its own
     * counter of wrong codes.
     */
    enable: (
      userId: string,
      { step, digests, at }: { step: number; digests: string[]; at: string },
      also: TransactionStep[],
    ): Promise<boolean> =>
      store.tryTransact([
        statement(spending(store, userId, 'enable', step), 1),
        statement(
          updateRows(db, totpTable, { user_id: userId, enabled_at: null }).set({
            enabled_at: at,
          }),
          1,
        ),
        ...replacing(store, userId, digests),
        forgetting(store, userId),
        ...also,
      ]),

    /** Resolves to false if codes are not required of the user. */
    renewCodes: (userId: string, digests: string[], also: TransactionStep[]): Promise<boolean> => {
      const still = selectRows(db, totpTable, { user_id: userId }).where(
        'enabled_at',
        'is not',
        null,
      );
      const steps = [assertRows(still, 1), ...replacing(store, userId, digests), ...also];
      return store.tryTransact(steps);
    },

    spendRecoveryCode: (userId: string, digest: string, at: string): Promise<boolean> =>
      store.tryTransact([
        statement(
          updateRows(db, recoveryCodeTable, { user_id: userId, digest, used_at: null }).set({
            used_at: at,
          }),
          1,
        ),
      ]),

    remove: async (userId: string, also: TransactionStep[]): Promise<void> => {
      await store.transact([
        statement(db.deleteFrom('totp').where('user_id', '=', userId)),
        statement(db.deleteFrom('recovery_codes').where('user_id', '=', userId)),
        forgetting(store, userId),
        ...also,
      ]);
    },
  };
};

export type TotpStore = ReturnType<typeof totpStore>;

const replacing = ({ db }: Store, userId: string, digests: string[]): TransactionStep[] => [
  statement(db.deleteFrom('recovery_codes').where('user_id', '=', userId)),
  statement(
    db
      .insertInto('recovery_codes')
      .values(digests.map((digest) => ({ user_id: userId, digest, used_at: null }))),
  ),
];

const forgetting = ({ db }: Store, userId: string): TransactionStep =>
  statement(db.deleteFrom('device_tokens').where('user_id', '=', userId));

const spending = ({ db }: Store, userId: string, purpose: Purpose, step: number) => {
  const column = `${purpose}_step` as const;
  return updateRows(db, totpTable, { user_id: userId })
    .set({ [column]: step })
    .where((of) => of.or([of(column, 'is', null), of(column, '<', step)]));
};
