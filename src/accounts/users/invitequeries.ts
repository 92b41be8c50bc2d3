import type { TransactionStep } from '../../store/engine/protocol.js';
import { selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { type InviteRow, inviteTable, userTable } from '../../store/tables/accounts.js';
import { admins, ended, endSessions, forgetDevices, forgetFailures, NEXT_EPOCH } from './revoke.js';

/** Queries for invites, including reset links, which are invites for an account. */
export const invitationsStore = (store: Store) => {
  const { db } = store;
  return {
    /**
     * Stores an invite. Deletes those that have expired, and an earlier one for the same account.
     */
    keep: async (invite: InviteRow, also: TransactionStep[]): Promise<void> => {
      const { user_id, created_at } = invite;
      const gone = db
        .deleteFrom('invites')
        .where((of) => of.or([of('expires_at', '<=', created_at), of('user_id', '=', user_id)]));
      const kept = db.insertInto('invites').values(invite);
      await store.transact([statement(gone), statement(kept, 1), ...also]);
    },

    /** Returns a valid invite: it has not expired, and the user who made it is still an admin. */
    open: (digest: string, now: string): Promise<InviteRow | undefined> =>
      selectRows(db, inviteTable, { digest })
        .where('expires_at', '>', now)
        .where('invited_by', 'in', admins(db))
        .executeTakeFirst(),

    /**
     * Spends an invite in one transaction with its use. Resolves to the sessions that end, or to
     * null if it is no longer valid.
     */
    spend: (digest: string, now: string, also: TransactionStep[]): Promise<string[] | null> => {
      const spent = db
        .deleteFrom('invites')
        .where('digest', '=', digest)
        .where('expires_at', '>', now)
        .where('invited_by', 'in', admins(db));
      return ended(store, [statement(spent, 1), ...also]);
    },

    /**
     * Returns the steps that set a new password for a user who is not an admin and not disabled,
     * and end all sessions.
     */
    resetting: (userId: string, passwordHash: string, at: string): TransactionStep[] => {
      const set = updateRows(db, userTable, { id: userId, role: 'user', disabled_at: null }).set({
        password_hash: passwordHash,
        login_epoch: NEXT_EPOCH,
      });
      const endings = [endSessions(db, userId, at), forgetFailures(db, userId)];
      return [statement(set, 1), ...endings, ...forgetDevices(db, userId)];
    },
  };
};

export type InvitationsStore = ReturnType<typeof invitationsStore>;
