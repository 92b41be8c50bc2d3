import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import { resource } from '../../kernel/route.js';
import { type Notification, notifications } from './contract.js';
import type { KeptNotification } from './queries.js';
import { viewPreferences } from './rules.js';
import { type NotificationsDeps, setPreferences } from './service.js';

export const notificationsResource = (deps: NotificationsDeps) =>
  resource('notifications', notifications, {
    list: async ({ query }, by) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor, unreadCount } = await deps.notifications.list(by.userId, page);
      return { notifications: rows.map(viewNotification), nextCursor, unreadCount };
    },
    read: async ({ id }, by) => {
      const row = await deps.notifications.read(by.userId, id, iso(deps.clock.now()));
      if (!row) throw Boom.notFound('No notification with that id');
      return viewNotification(row);
    },
    preferences: async (_input, by) =>
      viewPreferences(await deps.notifications.preferences(by.userId)),
    'set-preferences': async ({ body }, by) =>
      viewPreferences(await setPreferences(deps, body, by)),
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
