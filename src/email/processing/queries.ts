import { sql } from 'kysely';
import type { Statement } from '../../store/engine/protocol.js';
import { selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { type MailMessageRow, mailMessageTable } from '../../store/tables/mail.js';
import { visibleTo } from '../../store/visible.js';
import { firstIdAt, listMailIdentities, MESSAGE_ID_ONLY } from '../messages/record.js';

interface ArrivedMail {
  userId: string;
  accountId: string;
  folder: string;
  /** In milliseconds. */
  from: number;
}

export const processingStore = ({ db }: Store) => ({
  /** Oldest first. */
  unprocessed: (
    { userId, accountId, folder, from }: ArrivedMail,
    limit: number,
  ): Promise<MailMessageRow[]> =>
    selectRows(db, mailMessageTable, { account_id: accountId, folder }, visibleTo(userId))
      .where('processed_at', 'is', null)
      .where('id', '>=', firstIdAt(from))
      .orderBy('id')
      .limit(limit)
      .execute(),

  countUnprocessed: async ({ accountId, folder, from }: ArrivedMail): Promise<number> => {
    const { count } = await db
      .selectFrom('mail_messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('account_id', '=', accountId)
      .where('folder', '=', folder)
      .where('processed_at', 'is', null)
      .where('id', '>=', firstIdAt(from))
      .executeTakeFirstOrThrow();
    return count;
  },

  processed: (accountId: string, identities: string[]) =>
    db
      .selectFrom('mail_processed')
      .select(['identity', 'size'])
      .where('account_id', '=', accountId)
      .where('identity', 'in', identities)
      .execute(),

  /** Fails if the message was processed before. */
  claim: (row: MailMessageRow, at: string): Statement => {
    const { account_id, identity, folder, size } = row;
    const before = db
      .selectFrom('mail_processed')
      .select('size')
      .where('account_id', '=', account_id)
      .where('identity', 'in', listMailIdentities(row))
      .where(({ eb, or }) =>
        or([eb('size', '=', size), eb('identity', 'not like', `${MESSAGE_ID_ONLY}%`)]),
      );
    const claimed = db
      .selectNoFrom([
        sql.val(account_id).as('account_id'),
        sql.val(identity).as('identity'),
        sql.val(folder).as('folder'),
        sql.val(size).as('size'),
        sql.val(at).as('processed_at'),
      ])
      .where(({ not, exists }) => not(exists(before)));
    const columns = ['account_id', 'identity', 'folder', 'size', 'processed_at'] as const;
    return statement(db.insertInto('mail_processed').columns(columns).expression(claimed), 1);
  },

  /** Fails if the message is marked or gone. */
  mark: ({ id, category, priority }: MailMessageRow, at: string): Statement =>
    statement(
      updateRows(db, mailMessageTable, { id })
        .where('processed_at', 'is', null)
        .set({ processed_at: at, category, priority }),
      1,
    ),
});

export type ProcessingStore = ReturnType<typeof processingStore>;
