import { sql } from 'kysely';
import { cutPage, DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import type { Static } from '../../kernel/contract/schema.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Page } from '../../store/page.js';
import { changeInSteps, selectRows } from '../../store/rows.js';
import { isCommitted, type Store } from '../../store/store.js';
import { type NotificationRow, notificationTable } from '../../store/tables/notifications.js';
import { visibleTo } from '../../store/visible.js';
import {
  type PreferenceParts,
  type Preferences,
  readPreferences,
  writePreferences,
} from '../preferences.js';
import type { notifications } from './contract.js';

type NotificationFilters = Static<(typeof notifications)['list']['query']>;

/** Rows per transaction: about 5 ms of the writer thread. */
const STEP = 1000;
const READ_STEP = `UPDATE notifications SET read_at = @at WHERE rowid IN
  (SELECT rowid FROM notifications WHERE user_id = @userId AND read_at IS NULL AND rowid <= @newest
   LIMIT ${STEP})`;

/** Matches the partial index: nearly all notifications are hook messages. */
const isRare = sql<boolean>`kind <> 'hook_notice'`;

export const notificationsStore = (store: Store) => {
  const { db } = store;

  const unreadCount = (userId: string) =>
    db.selectFrom((of) =>
      of
        .selectFrom('notifications')
        .select((each) => each.fn.countAll<number>().as('count'))
        .where(visibleTo(userId))
        .where('read_at', 'is', null)
        .as('u'),
    );

  return {
    /** One query, so that page and unread count are consistent. */
    list: async (
      userId: string,
      { limit = DEFAULT_LIMIT, cursor, kind, unread }: NotificationFilters,
    ): Promise<Page<NotificationRow> & { unreadCount: number }> => {
      let query = selectRows(db, notificationTable, {}, visibleTo(userId));
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      if (kind !== undefined && kind !== 'hook_notice') query = query.where(isRare);
      if (unread !== undefined) query = query.where('read_at', unread ? 'is' : 'is not', null);
      const found = await unreadCount(userId)
        .leftJoin(
          query
            .orderBy('id', 'desc')
            .limit(limit + 1)
            .as('n'),
          (join) => join.onTrue(),
        )
        .select('u.count')
        .selectAll('n')
        .orderBy('n.id', 'desc')
        .execute();
      const stored = found.filter(isKept).map(({ count: _, ...row }) => row);
      return { ...cutPage(stored, limit), unreadCount: found[0]?.count ?? 0 };
    },

    /** Only the first call sets the time. */
    read: (userId: string, id: string, at: string): Promise<NotificationRow | undefined> =>
      db
        .updateTable('notifications')
        .set({ read_at: sql`coalesce(read_at, ${at})` })
        .where(visibleTo(userId))
        .where('id', '=', id)
        .returning(notificationTable.columns)
        .executeTakeFirst(),

    /** In steps between other writes. */
    readAll: async (userId: string, at: string): Promise<number> => {
      const newest = await db
        .selectFrom('notifications')
        .select(sql<number | null>`max(rowid)`.as('row'))
        .executeTakeFirstOrThrow();
      const parameters = [{ userId, at, newest: newest.row }];
      return changeInSteps(store, [{ sql: READ_STEP, parameters }], { step: STEP });
    },

    preferences: (userId: string): Promise<Preferences> => readPreferences(store, userId),

    /** False if a channel is gone. */
    prefer: (
      userId: string,
      { parts, at }: { parts: PreferenceParts; at: string },
      also: TransactionStep,
    ): Promise<boolean> =>
      isCommitted(store.transact([...writePreferences(store, { userId, parts, at }), also])),

    channelIds: async (userId: string): Promise<string[]> => {
      const rows = await db.selectFrom('channels').select('id').where(visibleTo(userId)).execute();
      return rows.map(({ id }) => id);
    },
  };
};

/** An empty page still has a row with the count. */
const isKept = <T extends { id: string | null }>(row: T): row is T & NotificationRow =>
  row.id !== null;

export type NotificationsStore = ReturnType<typeof notificationsStore>;
