import type { TransactionStep } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { InviteRow } from '../../store/tables/accounts.js';
import { admins, ended, endSessions, forgetDevices, forgetFailures, NEXT_EPOCH } from './revoke.js';

/** The queries of invites, and of the reset links that invites for an account are. */
export const invitationsStore = (store: Store) => {
  const { db } = store;
  return {
    /** Forgets those that are over, and the one for the same account whose place it takes. */
    keep: async (invite: InviteRow, also: TransactionStep[]): Promise<void> => {
      const { user_id, created_at } = invite;
      const gone = db
        .deleteFrom('invites')
        .where((of) => of.or([of('expires_at', '<=', created_at), of('user_id', '=', user_id)]));
      const kept = db.insertInto('invites').values(invite);
      await store.transact([statement(gone), statement(kept, 1), ...also]);
    },

    /** One that counts: it is not over, and who made it is an admin still. */
    open: (digest: string, now: string): Promise<InviteRow | undefined> =>
      db
        .selectFrom('invites')
        .select(['digest', 'user_id', 'role', 'email', 'invited_by', 'expires_at', 'created_at'])
        .where('digest', '=', digest)
        .where('expires_at', '>', now)
        .where('invited_by', 'in', admins(db))
        .executeTakeFirst(),

    /** Spends it together with what it is for; resolves to the sessions that end. null: it counts no more. */
    spend: (digest: string, now: string, also: TransactionStep[]): Promise<string[] | null> => {
      const spent = db
        .deleteFrom('invites')
        .where('digest', '=', digest)
        .where('expires_at', '>', now)
        .where('invited_by', 'in', admins(db));
      return ended(store, [statement(spent, 1), ...also]);
    },

    /** A new password for a user who is no admin and not disabled; all sessions end. */
    resetting: (userId: string, passwordHash: string, at: string): TransactionStep[] => {
      const set = db
        .updateTable('users')
        .set({ password_hash: passwordHash, login_epoch: NEXT_EPOCH })
        .where('id', '=', userId)
        .where('role', '=', 'user')
        .where('disabled_at', 'is', null);
      const endings = [endSessions(db, userId, at), forgetFailures(db, userId)];
      return [statement(set, 1), ...endings, ...forgetDevices(db, userId)];
    },
  };
};

export type InvitationsStore = ReturnType<typeof invitationsStore>;
