import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import { DEFAULT_LIMIT } from '../../kernel/page.js';
import { resource } from '../../kernel/route.js';
import { type Notification, notifications } from './contract.js';
import type { KeptNotification, NotificationsStore } from './store.js';

export const notificationsResource = (deps: { notifications: NotificationsStore; clock: Clock }) =>
  resource('notifications', notifications, {
    list: async ({ query }, by) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const [{ rows, nextCursor }, unreadCount] = await Promise.all([
        deps.notifications.list(by.userId, page),
        deps.notifications.unreadCount(by.userId),
      ]);
      return { notifications: rows.map(viewNotification), nextCursor, unreadCount };
    },
    read: async ({ id }, by) => {
      const row = await deps.notifications.read(by.userId, id, iso(deps.clock.now()));
      if (!row) throw Boom.notFound('No notification with that id');
      return viewNotification(row);
    },
    'read-all': async (_input, by) => ({
      read: await deps.notifications.readAll(by.userId, iso(deps.clock.now())),
    }),
  });

const viewNotification = (row: KeptNotification): Notification => ({
  id: row.id,
  kind: row.kind,
  title: row.title,
  body: row.body,
  link: row.link,
  readAt: row.read_at,
  createdAt: row.created_at,
});
