import { dropWaiting } from '../outbound/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../store/page.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import type { ChannelKind, channelTable } from '../store/tables/channels.js';
import type { Row } from '../store/tables/table.js';
import { visibleTo } from '../store/visible.js';

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

export type ShownChannelRow = Pick<Row<typeof channelTable>, (typeof CHANNEL)[number]>;

export const channelsStore = (store: Store) => {
  const { db } = store;
  return {
    list: (
      userId: string,
      { kind, ...page }: PageInput & { kind?: ChannelKind },
    ): Promise<Page<ShownChannelRow>> => {
      const own = db.selectFrom('channels').select(CHANNEL).where(visibleTo(userId));
      return newestFirst(kind === undefined ? own : own.where('kind', '=', kind), page);
    },

    countWebhooks: async (userId: string): Promise<number> => {
      const row = await db
        .selectFrom('channels')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where(visibleTo(userId))
        .where('kind', '=', 'webhook')
        .executeTakeFirst();
      return row?.count ?? 0;
    },

    get: (userId: string, id: string): Promise<ShownChannelRow | undefined> =>
      db
        .selectFrom('channels')
        .select(CHANNEL)
        .where(visibleTo(userId))
        .where('id', '=', id)
        .executeTakeFirst(),

    delete: (userId: string, id: string, also: TransactionStep[]): Promise<boolean> => {
      const removal = db.deleteFrom('channels').where(visibleTo(userId)).where('id', '=', id);
      return isCommitted(store.transact([statement(removal, 1), dropWaiting(store, id), ...also]));
    },
  };
};

export type ChannelsStore = ReturnType<typeof channelsStore>;
