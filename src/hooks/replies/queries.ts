import type { Clock } from '../../kernel/clock.js';
import { timeDigits } from '../../kernel/ids.js';
import { requeueMessage } from '../../outbound/module.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { PageInput } from '../../store/page.js';
import { newestFirst, type Page } from '../../store/page.js';
import { selectRows } from '../../store/rows.js';
import { isCommitted, type Store } from '../../store/store.js';
import { type OutboundMessageRow, outboundMessageTable } from '../../store/tables/outbox.js';
import { visibleTo } from '../../store/visible.js';

interface ReplyFilters extends PageInput {
  status?: OutboundMessageRow['status'];
  executionId?: string;
}

export const repliesStore = ({ store, clock }: { store: Store; clock: Clock }) => {
  const ofHook = (userId: string, hookId: string, more: Partial<OutboundMessageRow> = {}) =>
    selectRows(store.db, outboundMessageTable, { hook_id: hookId, ...more }, visibleTo(userId));

  return {
    list: (
      userId: string,
      hookId: string,
      { status, executionId, ...page }: ReplyFilters,
    ): Promise<Page<OutboundMessageRow>> =>
      newestFirst(ofHook(userId, hookId, { status, cause_id: executionId }), page),

    get: (userId: string, hookId: string, id: string): Promise<OutboundMessageRow | undefined> =>
      ofHook(userId, hookId, { id }).executeTakeFirst(),

    byId: (userId: string, id: string): Promise<OutboundMessageRow | undefined> =>
      selectRows(store.db, outboundMessageTable, { id }, visibleTo(userId)).executeTakeFirst(),

    /** The newest reply to the object that the platform has; its receipt is JSON. */
    lastSent: async (hookId: string, object: string): Promise<string | null> => {
      const row = await store.db
        .selectFrom('sendings')
        .select('receipt')
        .where('hook_id', '=', hookId)
        .where('object', '=', object)
        .where('status', '=', 'sent')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.receipt ?? null;
    },

    /** Replies to the object since a time, ISO 8601. */
    countSince: async (hookId: string, object: string, since: string): Promise<number> => {
      const row = await store.db
        .selectFrom('sendings')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where('hook_id', '=', hookId)
        .where('object', '=', object)
        .where('id', '>=', `sending_${timeDigits(Date.parse(since))}`)
        .executeTakeFirst();
      return row?.count ?? 0;
    },

    /** False if the status is another one. */
    resend: (id: string, also: TransactionStep[]): Promise<boolean> =>
      isCommitted(
        store.transact([
          ...requeueMessage({ store, clock }, { id, from: ['failed', 'unknown'] }),
          ...also,
        ]),
      ),
  };
};

export type RepliesStore = ReturnType<typeof repliesStore>;
