import { sql } from 'kysely';
import { cut } from '../../kernel/page.js';
import {
  type Preferences,
  readPreferences,
  writePreferences,
} from '../../runtime/outbox/preferences.js';
import type { Step } from '../../store/protocol.js';
import { type Store, unlessUnmet } from '../../store/store.js';
import type { NotificationRow } from '../../store/tables/notifications.js';

const columns = [
  'id',
  'user_id',
  'kind',
  'title',
  'body',
  'link',
  'read_at',
  'created_at',
] as const;

/** A notification as it is shown. */
export type KeptNotification = Omit<NotificationRow, 'effect_id' | 'direct' | 'about'>;

export const notificationsStore = (store: Store) => {
  const { db } = store;
  return {
    list: async (
      userId: string,
      page: { limit: number; cursor?: string; unread?: boolean; kind?: string },
    ): Promise<{ rows: KeptNotification[]; nextCursor: string | null }> => {
      let query = db.selectFrom('notifications').select(columns).where('user_id', '=', userId);
      if (page.cursor !== undefined) query = query.where('id', '<', page.cursor);
      if (page.kind !== undefined) query = query.where('kind', '=', page.kind);
      if (page.unread !== undefined) {
        query = query.where('read_at', page.unread ? 'is' : 'is not', null);
      }
      const rows = await query
        .orderBy('id', 'desc')
        .limit(page.limit + 1)
        .execute();
      return cut(rows, page.limit);
    },

    unreadCount: async (userId: string): Promise<number> => {
      const row = await db
        .selectFrom('notifications')
        .select((of) => of.fn.countAll<number>().as('count'))
        .where('user_id', '=', userId)
        .where('read_at', 'is', null)
        .executeTakeFirst();
      return row?.count ?? 0;
    },

    /** The first reading counts: reading again changes nothing. */
    read: (userId: string, id: string, at: string): Promise<KeptNotification | undefined> =>
      db
        .updateTable('notifications')
        .set({ read_at: sql`coalesce(read_at, ${at})` })
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .returning(columns)
        .executeTakeFirst(),

    readAll: async (userId: string, at: string): Promise<number> => {
      const { numUpdatedRows } = await db
        .updateTable('notifications')
        .set({ read_at: at })
        .where('user_id', '=', userId)
        .where('read_at', 'is', null)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },

    preferences: (userId: string): Promise<Preferences> => readPreferences(store, userId),

    /** False where a channel that they name is gone. */
    prefer: (
      userId: string,
      { preferences, at }: { preferences: Preferences; at: string },
      also: Step,
    ): Promise<boolean> =>
      unlessUnmet(store.transact([...writePreferences(store, { userId, preferences, at }), also])),

    channelIds: async (userId: string): Promise<string[]> => {
      const rows = await db
        .selectFrom('channels')
        .select('id')
        .where('user_id', '=', userId)
        .execute();
      return rows.map(({ id }) => id);
    },
  };
};

export type NotificationsStore = ReturnType<typeof notificationsStore>;
