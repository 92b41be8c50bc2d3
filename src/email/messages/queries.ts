import { contains } from '../../store/contains.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../../store/page.js';
import { deleteRows, insertRow, selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import {
  type MailCategory,
  type MailMessageRow,
  mailMessageTable,
} from '../../store/tables/mail.js';
import { visibleTo } from '../../store/visible.js';

export interface MessageFilter extends PageInput {
  accountId?: string | undefined;
  folder?: string | undefined;
  unread?: boolean | undefined;
  from?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  hasAttachments?: boolean | undefined;
  thread?: string | undefined;
  category?: MailCategory | undefined;
  /** Ids found by a search; undefined: no search. */
  found?: string[] | undefined;
}

const KNOWN = [
  ...(['id', 'uid', 'uid_validity', 'unread', 'flagged'] as const),
  ...(['identity', 'size', 'arrived_ms'] as const),
] as const;
export type KnownMessage = Pick<MailMessageRow, (typeof KNOWN)[number]>;

export const mailMessagesStore = ({ db, transact }: Store) => ({
  list: (userId: string, filter: MessageFilter) => {
    const { accountId, thread, folder, unread, category, ...more } = filter;
    const values = {
      account_id: accountId,
      thread_id: thread,
      folder,
      category,
      unread: unread === undefined ? undefined : unread ? 1 : 0,
    };
    const { from, since, until, hasAttachments, found, ...page } = more;
    let query = selectRows(db, mailMessageTable, values, visibleTo(userId));
    if (from !== undefined) {
      query = query.where(contains('sender', from));
    }
    if (since !== undefined) query = query.where('date', '>=', since);
    if (until !== undefined) query = query.where('date', '<', until);
    if (hasAttachments !== undefined) {
      query = query.where('attachments', hasAttachments ? '!=' : '=', '[]');
    }
    if (found !== undefined) query = query.where('id', 'in', found);
    return newestFirst(query, page);
  },

  get: (userId: string, id: string): Promise<MailMessageRow | undefined> =>
    selectRows(db, mailMessageTable, { id }, visibleTo(userId)).executeTakeFirst(),

  known: (accountId: string, folder: string): Promise<KnownMessage[]> =>
    db
      .selectFrom('mail_messages')
      .select(KNOWN)
      .where('account_id', '=', accountId)
      .where('folder', '=', folder)
      .execute(),

  /** Thread of the first known message; null if none is known. */
  threadOf: async (accountId: string, messageIds: string[]): Promise<string | null> => {
    if (messageIds.length === 0) return null;
    const row = await db
      .selectFrom('mail_messages')
      .select('thread_id')
      .where('account_id', '=', accountId)
      .where('message_id', 'in', messageIds)
      .executeTakeFirst();
    return row?.thread_id ?? null;
  },

  isProcessed: async (accountId: string, identity: string): Promise<boolean> =>
    (await db
      .selectFrom('mail_processed')
      .select('identity')
      .where('account_id', '=', accountId)
      .where('identity', '=', identity)
      .executeTakeFirst()) !== undefined,

  write: (steps: TransactionStep[]): Promise<unknown> =>
    steps.length === 0 ? Promise.resolve() : transact(steps),
  insertion: (row: MailMessageRow): TransactionStep => ({
    ...insertRow(mailMessageTable, row),
  }),
  change: (id: string, changes: Partial<MailMessageRow>): TransactionStep =>
    statement(updateRows(db, mailMessageTable, { id }).set(changes)),
  deletion: (id: string): TransactionStep => statement(deleteRows(db, mailMessageTable, { id })),
});

export type MailMessagesStore = ReturnType<typeof mailMessagesStore>;
