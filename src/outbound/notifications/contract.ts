import Joi from 'joi';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);

export const Notification = s.object('Notification', {
  id: s.id('notification'),
  kind: s.text(60),
  title: s.anyText(400),
  body: s.anyText(40_000),
  link: s
    .nullable(s.text(400))
    .description('Link to the object of the notification. `null` if there is none'),
  readAt: s
    .nullable(s.time())
    .description('Time at which the notification was read. `null` if unread'),
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
    .description(
      'ID of the channel that the preference applies to. `null` applies to all channels that have no separate preference',
    ),
  enabled: s.boolean(),
};
const KindChoice = s.object('KindChoice', { ...choice, about: s.text(200) });
const GivenChoice = s.ignoreReadOnly(s.object('GivenChoice', choice), 'about');
export type GivenChoice = s.Static<typeof GivenChoice>;

const times = { from: timeOfDay(), to: timeOfDay(), timezone: s.text(64).example('Europe/Berlin') };
const amounts = {
  windowMinutes: s
    .integer(1, 1440)
    .description(
      'Time from the first notification of a kind until its delayed notifications are sent as one message (digest), in minutes',
    ),
  threshold: s
    .integer(0, 1000)
    .description(
      'Number of notifications of a kind within `windowMinutes` that are sent individually. Further notifications are delayed and combined',
    ),
};

const reminders = {
  reminderMinutes: s
    .nullable(s.integer(0, 40_320))
    .description(
      'Default lead time of task reminders, in minutes. `null` disables default reminders',
    ),
};

export const NotificationPreferences = s.object('NotificationPreferences', {
  kinds: s
    .list(KindChoice)
    .description(
      'Preferences for all kinds of notifications that can be muted, and separate preferences for single channels',
    ),
  quietHours: s.object('QuietHours', { enabled: s.boolean(), ...times }),
  digest: s.object('Digest', { enabled: s.boolean(), ...amounts }),
  tasks: s.object('TaskReminders', reminders),
});
export type NotificationPreferences = s.Static<typeof NotificationPreferences>;

const PreferenceChanges = s
  .object('PreferenceChanges', {
    kinds: s.optional(
      s
        .list(GivenChoice)
        .description(
          'New list of notification preferences. Replaces the existing list. Omitted kinds of notifications are enabled',
        ),
    ),
    kindChanges: s.optional(
      s
        .list(GivenChoice)
        .description(
          'Choices to change. Other choices are unchanged; a choice with `channelId: null` replaces the choices of single channels for the same kind',
        ),
    ),
    quietHours: s.optional(
      s.object('QuietHoursChange', {
        enabled: s.boolean(),
        from: s.optional(times.from),
        to: s.optional(times.to),
        timezone: s.optional(times.timezone),
      }),
    ),
    digest: s.optional(
      s.object('DigestChange', {
        enabled: s.boolean(),
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
      nextCursor: s
        .nullable(s.text(200))
        .description('Value of `cursor` for the next page. `null` on the last page'),
      unreadCount: count(),
    }),
  }),
  read: endpoint.post('/api/notifications/{id}/read', {
    summary: 'Mark a notification as read',
    reply: Notification,
  }),
  'read-all': endpoint.post('/api/notifications/read-all', {
    summary: 'Mark all notifications as read',
    reply: s.object('ReadAll', { read: count() }),
  }),
  preferences: endpoint.get('/api/notifications/preferences', {
    summary: 'Get notification preferences',
    reply: NotificationPreferences,
  }),
  'set-preferences': endpoint.put('/api/notifications/preferences', {
    summary: 'Update notification preferences',
    description: 'Omitted fields keep their values.',
    example: {
      quietHours: { enabled: true, from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
    },
    body: PreferenceChanges,
    reply: NotificationPreferences,
    audit: 'notifications.set-preferences',
  }),
});
