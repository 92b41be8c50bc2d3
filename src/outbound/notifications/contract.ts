import Joi from 'joi';
import { contract } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import {
  anyText,
  flag,
  id,
  ignoring,
  list,
  nullable,
  object,
  optional,
  queryFlag,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

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

const timeOfDay = () =>
  Joi.string<string>()
    .pattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time of day')
    .example('22:00');

const choice = {
  kind: text(60).example('hook_failed'),
  channelId: nullable(id('channel')).description(
    'null: all channels without a choice of their own',
  ),
  enabled: flag(),
};
const KindChoice = object('KindChoice', { ...choice, about: text(200) });
const GivenChoice = ignoring(object('GivenChoice', choice), 'about');
export type GivenChoice = Static<typeof GivenChoice>;

const times = { from: timeOfDay(), to: timeOfDay(), timezone: text(64).example('Europe/Berlin') };
const amounts = {
  windowMinutes: whole(1, 1440),
  threshold: whole(0, 1000).description('So many of a kind are told one by one within a window'),
};

export const NotificationPreferences = object('NotificationPreferences', {
  kinds: list(KindChoice).description('Every kind that can be muted, and what differs by channel'),
  quietHours: object('QuietHours', { enabled: flag(), ...times }),
  digest: object('Digest', { enabled: flag(), ...amounts }),
});
export type NotificationPreferences = Static<typeof NotificationPreferences>;

const PreferenceChanges = object('PreferenceChanges', {
  kinds: optional(list(GivenChoice).description('Replaces all; what is left out is enabled')),
  kindChanges: optional(
    list(GivenChoice).description(
      'Go over what there is; one for all channels in the place of those for each',
    ),
  ),
  quietHours: optional(
    object('QuietHoursChange', {
      enabled: flag(),
      from: optional(times.from),
      to: optional(times.to),
      timezone: optional(times.timezone),
    }),
  ),
  digest: optional(
    object('DigestChange', {
      enabled: flag(),
      windowMinutes: optional(amounts.windowMinutes),
      threshold: optional(amounts.threshold),
    }),
  ),
}).min(1);
export type PreferenceChanges = Static<typeof PreferenceChanges>;

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
  preferences: {
    method: 'GET',
    path: '/api/notifications/preferences',
    summary: 'What of your notifications goes to your channels, and when',
    reply: NotificationPreferences,
  },
  'set-preferences': {
    method: 'PUT',
    path: '/api/notifications/preferences',
    summary: 'Mute kinds, set quiet hours, gather storms; in the app all of it stays',
    example: {
      quietHours: { enabled: true, from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
    },
    body: PreferenceChanges,
    reply: NotificationPreferences,
    audit: 'notifications.set-preferences',
  },
});
