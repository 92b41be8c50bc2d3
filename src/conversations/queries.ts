import { sql } from 'kysely';
import { newestFirst, type PageInput } from '../store/page.js';
import type { Store } from '../store/store.js';
import { visibleTo } from '../store/visible.js';

export const sessionsStore = ({ db }: Store) => {
  const sessions = (userId: string) =>
    db
      .selectFrom('sessions')
      .select(['id', 'user_id', 'title', 'channel', 'message_count', 'created_at', 'updated_at'])
      .select(
        sql<string>`(SELECT coalesce(json_group_array(a.id), '[]')
          FROM agents AS a WHERE a.session_id = sessions.id)`.as('agent_ids'),
      )
      .where(visibleTo(userId));

  return {
    list: async (userId: string, { channel, ...page }: PageInput & { channel?: string }) => {
      let query = sessions(userId);
      if (channel !== undefined) query = query.where('channel', '=', channel);
      return newestFirst(query, page);
    },

    get: (userId: string, id: string) => sessions(userId).where('id', '=', id).executeTakeFirst(),

    messages: (userId: string, id: string, { after, limit }: { after: number; limit: number }) =>
      db
        .selectFrom('messages as m')
        .innerJoin('sessions as s', 's.id', 'm.session_id')
        .select(['m.id', 'm.seq', 'm.role', 'm.content', 'm.tool_calls', 'm.agent_id'])
        .select('m.created_at')
        .where(visibleTo(userId, 's'))
        .where('m.session_id', '=', id)
        .where('m.seq', '>', after)
        .orderBy('m.seq')
        .limit(limit)
        .execute(),
  };
};

export type SessionsStore = ReturnType<typeof sessionsStore>;
export type SessionView = NonNullable<Awaited<ReturnType<SessionsStore['get']>>>;
export type MessageView = Awaited<ReturnType<SessionsStore['messages']>>[number];
