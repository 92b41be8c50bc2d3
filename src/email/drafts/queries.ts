import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../../store/page.js';
import { deleteRows, insertUpTo, selectCount, selectRows, updateRows } from '../../store/rows.js';
import { isCommitted, type Store, statement } from '../../store/store.js';
import { type MailDraftRow, mailDraftTable } from '../../store/tables/mail.js';
import { unchangedSince } from '../../store/updateif.js';
import { visibleTo } from '../../store/visible.js';

export const MAX_DRAFTS = 1000;

export const mailDraftsStore = ({ db, transact, tryTransact }: Store) => {
  const own = (userId: string, values: Partial<MailDraftRow> = {}) =>
    selectRows(db, mailDraftTable, values, visibleTo(userId));
  const removal = (userId: string, id: string): Statement =>
    statement(deleteRows(db, mailDraftTable, { id }).where(visibleTo(userId)), 1);

  return {
    list: (userId: string, page: PageInput) => newestFirst(own(userId), page),

    get: (userId: string, id: string): Promise<MailDraftRow | undefined> =>
      own(userId, { id }).executeTakeFirst(),

    ofEffect: (userId: string, effect_id: string): Promise<MailDraftRow | undefined> =>
      own(userId, { effect_id }).executeTakeFirst(),

    /** True if the agent has read untrusted content. */
    isUntrusted: async (agentId: string | null): Promise<boolean> => {
      if (agentId === null) return false;
      const agent = db.selectFrom('agents').select('untrusted').where('id', '=', agentId);
      return (await agent.executeTakeFirst())?.untrusted !== 0;
    },

    /** False at the limit. Throws Taken for a repeated effect. */
    insert: (row: MailDraftRow, also: TransactionStep[]): Promise<boolean> => {
      const count = selectCount(db, mailDraftTable, {}, visibleTo(row.user_id));
      const insert = insertUpTo(db, mailDraftTable, row, { count, most: MAX_DRAFTS });
      return isCommitted(transact([statement(insert, 1), ...also]));
    },

    /** False if it changed since it was read. */
    update: (
      read: MailDraftRow,
      changes: Partial<MailDraftRow>,
      also: TransactionStep,
    ): Promise<boolean> =>
      tryTransact([
        statement(
          updateRows(db, mailDraftTable, { user_id: read.user_id, id: read.id })
            .set(changes)
            .where(unchangedSince(read)),
          1,
        ),
        also,
      ]),

    delete: (userId: string, id: string, also: TransactionStep): Promise<boolean> =>
      tryTransact([removal(userId, id), also]),

    /** Throws Unmet if the draft changed. */
    removalOf: (read: MailDraftRow): Statement =>
      statement(
        deleteRows(db, mailDraftTable, { user_id: read.user_id, id: read.id }).where(
          unchangedSince(read),
        ),
        1,
      ),
  };
};

export type MailDraftsStore = ReturnType<typeof mailDraftsStore>;
