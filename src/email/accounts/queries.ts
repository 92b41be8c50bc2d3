import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../../store/page.js';
import { deleteRows, insertUpTo, selectCount, selectRows, updateRows } from '../../store/rows.js';
import { isCommitted, type Store, statement } from '../../store/store.js';
import {
  type MailAccountRow,
  type MailLoginKind,
  mailAccountTable,
} from '../../store/tables/mail.js';
import { unchangedSince } from '../../store/updateif.js';
import { visibleTo } from '../../store/visible.js';

export const MAX_MAIL_ACCOUNTS = 100;

export const WORKING = { status: 'ok', error: null, refused_login: null } as const;

type MailAccountState = Partial<
  Pick<MailAccountRow, 'status' | 'error' | 'authserv_id' | 'last_sync_at' | 'refused_login'>
>;

export const mailAccountsStore = ({ db, transact, tryTransact }: Store) => {
  const own = (userId: string, values: Partial<MailAccountRow> = {}) =>
    selectRows(db, mailAccountTable, values, visibleTo(userId));

  return {
    list: (userId: string, page: PageInput) => newestFirst(own(userId), page),

    /** Without accounts of disabled users. */
    watched: (): Promise<MailAccountRow[]> =>
      selectRows(db, mailAccountTable, { watch: 1 })
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('users')
              .select('users.id')
              .whereRef('users.id', '=', 'mail_accounts.user_id')
              .where('users.disabled_at', 'is', null),
          ),
        )
        .orderBy('id')
        .execute(),

    get: (userId: string, id: string): Promise<MailAccountRow | undefined> =>
      own(userId, { id }).executeTakeFirst(),

    /** False at the limit. Throws Taken for a duplicate address. */
    insert: (row: MailAccountRow, also: TransactionStep): Promise<boolean> => {
      const count = selectCount(db, mailAccountTable, {}, visibleTo(row.user_id));
      const insert = insertUpTo(db, mailAccountTable, row, { count, most: MAX_MAIL_ACCOUNTS });
      return isCommitted(transact([statement(insert, 1), also]));
    },

    /** False if it changed since it was read. */
    update: (
      read: MailAccountRow,
      changes: Partial<MailAccountRow>,
      also: TransactionStep[],
    ): Promise<boolean> =>
      tryTransact([
        statement(
          updateRows(db, mailAccountTable, { user_id: read.user_id, id: read.id })
            .set(changes)
            .where(unchangedSince(read)),
          1,
        ),
        ...also,
      ]),

    /**
     * False if not found, or if messages are being sent. `isForced` deletes it anyway and runs
     * their jobs at once.
     */
    delete: (
      userId: string,
      id: string,
      { isForced, now, also }: { isForced: boolean; now: string; also: TransactionStep[] },
    ): Promise<boolean> => {
      const removal = deleteRows(db, mailAccountTable, { id }).where(visibleTo(userId));
      const unsent = db
        .selectFrom('mail_sent')
        .select('id')
        .where('account_id', '=', id)
        .where('finished_at', 'is', null);
      const jobs = db
        .updateTable('jobs')
        .set({ run_at: now })
        .where('lane', '=', id)
        .where('boot', 'is', null)
        .where('run_at', '>', now);
      return tryTransact([
        statement(isForced ? removal : removal.where(({ not, exists }) => not(exists(unsent))), 1),
        ...(isForced ? [statement(jobs)] : []),
        ...also,
      ]);
    },

    /**
     * Only while servers and credential are those that were tried, and `expected` matches.
     * Otherwise false.
     */
    note: (
      { id, credential_id, imap, smtp, username }: MailAccountRow,
      state: MailAccountState,
      { unless, also = [] }: { unless?: MailAccountRow['status']; also?: TransactionStep[] } = {},
    ): Promise<boolean> => {
      const changed = updateRows(db, mailAccountTable, { id, credential_id, imap, smtp, username });
      const guarded = unless === undefined ? changed : changed.where('status', '!=', unless);
      return tryTransact([statement(guarded.set(state), 1), ...also]);
    },

    /** Keeps the status if the other login is rejected: it does not work because this one does. */
    noteLogin: (
      { id, credential_id, imap, smtp, username }: MailAccountRow,
      login: MailLoginKind,
    ): Promise<boolean> => {
      const changed = updateRows(db, mailAccountTable, { id, credential_id, imap, smtp, username })
        .set(WORKING)
        .where((of) => of.or([of('refused_login', 'is', null), of('refused_login', '=', login)]));
      return tryTransact([statement(changed, 1)]);
    },
  };
};

export type MailAccountsStore = ReturnType<typeof mailAccountsStore>;
