import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);

export const Notification = s.object('Notification', {
  id: s.id('notification'),
  kind: s.text(60),
  title: s.anyText(400),
  body: s.anyText(40_000),
  link: s.nullable(s.text(400)),
  readAt: s.nullable(s.time()),
  createdAt: s.time(),
});
export type Notification = s.Static<typeof Notification>;

const timeOfDay = () =>
  Joi.string<string>()
    .pattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time of day')
    .example('22:00');

const choice = {
  kind: s.text(60).example('hook_failed'),
  channelId: s
    .nullable(s.id('channel'))
    .description('null: all channels without a choice of their own'),
  enabled: s.flag(),
};
const KindChoice = s.object('KindChoice', { ...choice, about: s.text(200) });
const GivenChoice = s.ignoring(s.object('GivenChoice', choice), 'about');
export type GivenChoice = s.Static<typeof GivenChoice>;

const times = { from: timeOfDay(), to: timeOfDay(), timezone: s.text(64).example('Europe/Berlin') };
const amounts = {
  windowMinutes: s.whole(1, 1440),
  threshold: s.whole(0, 1000).description('So many of a kind are told one by one within a window'),
};

const reminders = {
  reminderMinutes: s
    .nullable(s.whole(0, 40_320))
    .description('You are reminded so long before a task is due, unless it says otherwise'),
};

export const NotificationPreferences = s.object('NotificationPreferences', {
  kinds: s
    .list(KindChoice)
    .description('Every kind that can be muted, and what differs by channel'),
  quietHours: s.object('QuietHours', { enabled: s.flag(), ...times }),
  digest: s.object('Digest', { enabled: s.flag(), ...amounts }),
  tasks: s.object('TaskReminders', reminders),
});
export type NotificationPreferences = s.Static<typeof NotificationPreferences>;

const PreferenceChanges = s
  .object('PreferenceChanges', {
    kinds: s.optional(s.list(GivenChoice).description('Replaces all; what is left out is enabled')),
    kindChanges: s.optional(
      s
        .list(GivenChoice)
        .description('Go over what there is; one for all channels in the place of those for each'),
    ),
    quietHours: s.optional(
      s.object('QuietHoursChange', {
        enabled: s.flag(),
        from: s.optional(times.from),
        to: s.optional(times.to),
        timezone: s.optional(times.timezone),
      }),
    ),
    digest: s.optional(
      s.object('DigestChange', {
        enabled: s.flag(),
        windowMinutes: s.optional(amounts.windowMinutes),
        threshold: s.optional(amounts.threshold),
      }),
    ),
    tasks: s.optional(s.object('TaskRemindersChange', reminders)),
  })
  .min(1);
export type PreferenceChanges = s.Static<typeof PreferenceChanges>;

export const notifications = contract({
  list: endpoint.get('/api/notifications', {
    summary: 'List your notifications',
    query: pageQuery('NotificationQuery', {
      unread: s.optional(s.queryFlag()),
      kind: s.optional(s.text(60)),
    }),
    reply: s.object('NotificationsPage', {
      notifications: s.list(Notification, 200),
      nextCursor: s.nullable(s.text(200)),
      unreadCount: count(),
    }),
  }),
  read: endpoint.post('/api/notifications/{id}/read', {
    summary: 'Mark one as read',
    reply: Notification,
  }),
  'read-all': endpoint.post('/api/notifications/read-all', {
    summary: 'Mark all as read',
    reply: s.object('ReadAll', { read: count() }),
  }),
  preferences: endpoint.get('/api/notifications/preferences', {
    summary: 'What of your notifications goes to your channels, and when',
    reply: NotificationPreferences,
  }),
  'set-preferences': endpoint.put('/api/notifications/preferences', {
    summary: 'Mute kinds, set quiet hours, combine many into digests; the app keeps all of them',
    example: {
      quietHours: { enabled: true, from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
    },
    body: PreferenceChanges,
    reply: NotificationPreferences,
    audit: 'notifications.set-preferences',
  }),
});
