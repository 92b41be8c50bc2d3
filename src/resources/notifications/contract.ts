import { contract } from '../../kernel/endpoint.js';
import { pageQuery } from '../../kernel/page.js';
import {
  anyText,
  id,
  list,
  nullable,
  object,
  optional,
  queryFlag,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/schema.js';

const count = () => whole(0, Number.MAX_SAFE_INTEGER);

export const Notification = object('Notification', {
  id: id('notification'),
  kind: text(60),
  title: anyText(400),
  body: anyText(40_000),
  link: nullable(text(400)),
  readAt: nullable(time()),
  createdAt: time(),
});
export type Notification = Static<typeof Notification>;

export const notifications = contract({
  list: {
    method: 'GET',
    path: '/api/notifications',
    summary: 'List your notifications',
    query: pageQuery('NotificationQuery', {
      unread: optional(queryFlag()),
      kind: optional(text(60)),
    }),
    reply: object('NotificationsPage', {
      notifications: list(Notification, 200),
      nextCursor: nullable(text(200)),
      unreadCount: count(),
    }),
  },
  read: {
    method: 'POST',
    path: '/api/notifications/{id}/read',
    summary: 'Mark one as read',
    reply: Notification,
  },
  'read-all': {
    method: 'POST',
    path: '/api/notifications/read-all',
    summary: 'Mark all as read',
    reply: object('ReadAll', { read: count() }),
  },
});
