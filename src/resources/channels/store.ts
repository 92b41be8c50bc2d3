import { cut } from '../../kernel/page.js';
import type { Step } from '../../store/protocol.js';
import { type Store, statement, unlessUnmet } from '../../store/store.js';
import type { ChannelKind, ChannelRow } from '../../store/tables/channels.js';

const CHANNEL = [
  'id',
  'user_id',
  'kind',
  'sender_id',
  'sender_name',
  'verified_at',
  'created_at',
] as const;

export const channelsStore = (store: Store) => {
  const { db } = store;
  return {
    list: async (
      userId: string,
      { limit, cursor, kind }: { limit: number; cursor?: string; kind?: ChannelKind },
    ): Promise<{ rows: ChannelRow[]; nextCursor: string | null }> => {
      let query = db.selectFrom('channels').select(CHANNEL).where('user_id', '=', userId);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      const rows = await query
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return cut(rows, limit);
    },

    get: (userId: string, id: string): Promise<ChannelRow | undefined> =>
      db
        .selectFrom('channels')
        .select(CHANNEL)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst(),

    /** false: there is none, or it is another's. */
    delete: (userId: string, id: string, also: Step[]): Promise<boolean> => {
      const removal = db.deleteFrom('channels').where('user_id', '=', userId).where('id', '=', id);
      return unlessUnmet(store.transact([statement(removal, 1), ...also]));
    },
  };
};

export type ChannelsStore = ReturnType<typeof channelsStore>;
