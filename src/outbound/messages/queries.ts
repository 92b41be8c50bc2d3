import { sql } from 'kysely';
import type { Clock } from '../../kernel/clock.js';
import { cutPage, DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import type { Static } from '../../kernel/contract/schema.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Page } from '../../store/page.js';
import { isCommitted, type Store } from '../../store/store.js';
import type { MessageAttemptRow, OutboundMessageRow } from '../../store/tables/outbox.js';
import { visibleTo } from '../../store/visible.js';
import { requeueMessage } from '../messages.js';
import type { outbox } from './contract.js';

export type ListedMessage = Omit<OutboundMessageRow, 'content' | 'cause_id' | 'hops'> & {
  username: string;
  /** null for an outgoing webhook and for a reply. */
  channel_kind: string | null;
};

export type ShownAttempt = Omit<MessageAttemptRow, 'excerpt'>;

type OutboxFilters = Static<(typeof outbox)['list']['query']>;

const MESSAGE = [
  's.id',
  's.user_id',
  's.channel_id',
  's.webhook_id',
  's.hook_id',
  's.object',
  's.kind',
  's.status',
  's.attempts',
  's.next_at',
  's.receipt',
  's.error',
  's.created_at',
  's.finished_at',
  'u.username',
  'c.kind as channel_kind',
] as const;

export const outboxStore = ({ store, clock }: { store: Store; clock: Clock }) => {
  const { db } = store;
  const messages = () =>
    db
      .selectFrom('sendings as s')
      .innerJoin('users as u', 'u.id', 's.user_id')
      .leftJoin('channels as c', 'c.id', 's.channel_id')
      .select(MESSAGE);

  return {
    list: async (filters: OutboxFilters): Promise<Page<ListedMessage>> => {
      const { limit = DEFAULT_LIMIT, cursor, status, kind, channelId, webhookId } = filters;
      let query = messages();
      if (cursor !== undefined) query = query.where('s.id', '<', cursor);
      if (status !== undefined) query = query.where('s.status', '=', status);
      // Matches the partial index literally.
      if (status && status !== 'sent') query = query.where(sql<boolean>`s.status <> 'sent'`);
      if (kind !== undefined) query = query.where('s.kind', '=', kind);
      if (channelId !== undefined) query = query.where('s.channel_id', '=', channelId);
      if (webhookId !== undefined) query = query.where('s.webhook_id', '=', webhookId);
      const rows = await query
        .orderBy('s.id', 'desc')
        .limit(limit + 1)
        .execute();
      return cutPage(rows, limit);
    },

    find: (id: string): Promise<ListedMessage | undefined> =>
      messages().where('s.id', '=', id).executeTakeFirst(),

    /** False if the status changed. */
    resend: (id: string, also: TransactionStep): Promise<boolean> =>
      isCommitted(
        store.transact([
          ...requeueMessage({ store, clock }, { id, from: ['failed', 'unknown'] }),
          also,
        ]),
      ),

    hasNotice: async (userId: string, id: string): Promise<boolean> => {
      const row = await db
        .selectFrom('notifications')
        .select('id')
        .where(visibleTo(userId))
        .where('id', '=', id)
        .executeTakeFirst();
      return row !== undefined;
    },

    /** Selected by channel to use the index. */
    ofNotice: (userId: string, noticeId: string): Promise<ListedMessage[]> => {
      const channels = db.selectFrom('channels').select('id').where(visibleTo(userId));
      return messages()
        .where(visibleTo(userId, 's'))
        .where('s.channel_id', 'in', channels)
        .where('s.cause_id', '=', noticeId)
        .orderBy('s.id')
        .execute();
    },

    attempts: async (messageIds: string[]): Promise<ShownAttempt[]> => {
      if (messageIds.length === 0) return [];
      return db
        .selectFrom('sending_attempts')
        .select(['sending_id', 'number', 'at', 'duration_ms', 'verdict', 'status', 'error'])
        .where('sending_id', 'in', messageIds)
        .orderBy('sending_id')
        .orderBy('number')
        .execute();
    },
  };
};

export type OutboxStore = ReturnType<typeof outboxStore>;
