import { iso } from '../../kernel/clock.js';
import { orNotFound, resource } from '../../kernel/route.js';
import { notificationTable } from '../../store/tables/notifications.js';
import { viewer } from '../../store/view.js';
import { Notification, notifications } from './contract.js';
import { viewPreferences } from './rules.js';
import { type NotificationsDeps, setPreferences } from './service.js';

export const notificationsResource = (deps: NotificationsDeps) =>
  resource('notifications', notifications, {
    list: async ({ query }, by) => {
      const { rows, nextCursor, unreadCount } = await deps.notifications.list(by.userId, query);
      return { notifications: rows.map(viewNotification), nextCursor, unreadCount };
    },
    read: async ({ id }, by) => {
      const row = orNotFound(
        await deps.notifications.read(by.userId, id, iso(deps.clock.now())),
        'Notification not found',
      );
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

const viewNotification = viewer(notificationTable, Notification, {});
