import type { TransactionStep } from '../../store/engine/protocol.js';
import { selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { type InviteRow, inviteTable, userTable } from '../../store/tables/accounts.js';
import {
  enabledAdmins,
  endedSessionIds,
  endSessions,
  forgetDevices,
  forgetFailures,
  NEXT_EPOCH,
} from './revoke.js';

/** Reset links are invites for an existing account. */
export const invitationsStore = (store: Store) => {
  const { db } = store;
  return {
    /** Also deletes expired invites, and an earlier one for the same account. */
    keep: async (invite: InviteRow, also: TransactionStep[]): Promise<void> => {
      const { user_id, created_at } = invite;
      const gone = db
        .deleteFrom('invites')
        .where((of) => of.or([of('expires_at', '<=', created_at), of('user_id', '=', user_id)]));
      const kept = db.insertInto('invites').values(invite);
      await store.transact([statement(gone), statement(kept, 1), ...also]);
    },

    /** Valid until it expires, and while the user who created it is an admin. */
    open: (digest: string, now: string): Promise<InviteRow | undefined> =>
      selectRows(db, inviteTable, { digest })
        .where('expires_at', '>', now)
        .where('invited_by', 'in', enabledAdmins(db))
        .executeTakeFirst(),

    /** Uses up the invite. Resolves to the sessions that end; null if the invite is not valid. */
    spend: (digest: string, now: string, also: TransactionStep[]): Promise<string[] | null> => {
      const spent = db
        .deleteFrom('invites')
        .where('digest', '=', digest)
        .where('expires_at', '>', now)
        .where('invited_by', 'in', enabledAdmins(db));
      return endedSessionIds(store, [statement(spent, 1), ...also]);
    },

    /** For a user who is not an admin and not disabled. Ends all sessions. */
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
