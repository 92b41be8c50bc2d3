import { dropWaiting } from '../outbound/messages.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst } from '../store/page.js';
import { type Store, statement, unlessUnmet } from '../store/store.js';
import type { ChannelKind, ChannelPartsRow, ChannelRow } from '../store/tables/channels.js';

const CHANNEL = [
  'id',
  'user_id',
  'kind',
  'sender_id',
  'sender_name',
  'verified_at',
  'url',
  'created_at',
] as const;

export type ShownChannelRow = ChannelRow & Pick<ChannelPartsRow, 'url'>;

export const channelsStore = (store: Store) => {
  const { db } = store;
  return {
    list: (
      userId: string,
      { kind, ...page }: { limit: number; cursor?: string; kind?: ChannelKind },
    ): Promise<{ rows: ShownChannelRow[]; nextCursor: string | null }> => {
      const own = db.selectFrom('channels').select(CHANNEL).where('user_id', '=', userId);
      return newestFirst(kind === undefined ? own : own.where('kind', '=', kind), page);
    },

    countWebhooks: async (userId: string): Promise<number> => {
      const row = await db
        .selectFrom('channels')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where('user_id', '=', userId)
        .where('kind', '=', 'webhook')
        .executeTakeFirst();
      return row?.count ?? 0;
    },

    get: (userId: string, id: string): Promise<ShownChannelRow | undefined> =>
      db
        .selectFrom('channels')
        .select(CHANNEL)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst(),

    /** Deletes a channel. Resolves to false if there is none, or it belongs to another user. */
    delete: (userId: string, id: string, also: TransactionStep[]): Promise<boolean> => {
      const removal = db.deleteFrom('channels').where('user_id', '=', userId).where('id', '=', id);
      return unlessUnmet(store.transact([statement(removal, 1), dropWaiting(store, id), ...also]));
    },
  };
};

export type ChannelsStore = ReturnType<typeof channelsStore>;
