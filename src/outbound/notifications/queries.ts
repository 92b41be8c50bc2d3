import { sql } from 'kysely';
import { cutPage } from '../../kernel/contract/page.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { type Store, unlessUnmet } from '../../store/store.js';
import type { NotificationRow } from '../../store/tables/notifications.js';
import {
  type PreferenceParts,
  type Preferences,
  readPreferences,
  writePreferences,
} from '../preferences.js';

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
export type KeptNotification = Omit<NotificationRow, 'effect_id' | 'direct' | 'about' | 'hops'>;

export const notificationsStore = (store: Store) => {
  const { db } = store;

  const unread = (userId: string) =>
    db.selectFrom((of) =>
      of
        .selectFrom('notifications')
        .select((each) => each.fn.countAll<number>().as('count'))
        .where('user_id', '=', userId)
        .where('read_at', 'is', null)
        .as('u'),
    );

  return {
    /**
     * Returns a page and the number of unread notifications. One query reads both, so that they are
     * of the same moment.
     */
    list: async (
      userId: string,
      page: { limit: number; cursor?: string; unread?: boolean; kind?: string },
    ): Promise<{ rows: KeptNotification[]; nextCursor: string | null; unreadCount: number }> => {
      let query = db.selectFrom('notifications').select(columns).where('user_id', '=', userId);
      if (page.cursor !== undefined) query = query.where('id', '<', page.cursor);
      if (page.kind !== undefined) query = query.where('kind', '=', page.kind);
      if (page.unread !== undefined) {
        query = query.where('read_at', page.unread ? 'is' : 'is not', null);
      }
      const found = await unread(userId)
        .leftJoin(
          query
            .orderBy('id', 'desc')
            .limit(page.limit + 1)
            .as('n'),
          (join) => join.onTrue(),
        )
        .select('u.count')
        .selectAll('n')
        .orderBy('n.id', 'desc')
        .execute();
      return { ...cutPage(found.filter(isKept), page.limit), unreadCount: found[0]?.count ?? 0 };
    },

    /** Marks one as read. Only the first reading counts: a second one changes nothing. */
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

    /** Returns false if a channel that the preferences name is gone. */
    prefer: (
      userId: string,
      { parts, at }: { parts: PreferenceParts; at: string },
      also: TransactionStep,
    ): Promise<boolean> =>
      unlessUnmet(store.transact([...writePreferences(store, { userId, parts, at }), also])),

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

/** True if the row has a notification; an empty page still returns a row with the count. */
const isKept = <T extends { id: string | null }>(row: T): row is T & KeptNotification =>
  row.id !== null;

export type NotificationsStore = ReturnType<typeof notificationsStore>;
