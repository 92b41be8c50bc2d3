import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Store } from '../../store/store.js';

export const tunnelStore = ({ db, transact }: Store) => ({
  write: async (steps: TransactionStep[]): Promise<void> => {
    await transact(steps);
  },
  /** Returns the passkeys of all users that were made under that name. */
  passkeysOf: (relyingParty: string) =>
    db
      .selectFrom('passkeys as p')
      .innerJoin('users as u', 'u.id', 'p.user_id')
      .select(['u.username', 'p.name', 'p.relying_party as relyingParty'])
      .where('p.relying_party', '=', relyingParty)
      .orderBy('p.id')
      .limit(1000)
      .execute(),
});

export type TunnelStore = ReturnType<typeof tunnelStore>;
