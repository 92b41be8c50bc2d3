import { flag, number, orNull, preset, type Row, table, text } from './table.js';

/** A user's quiet hours and digests. Without a row both are off. */
export const notificationSettingsTable = table('notification_settings', {
  user_id: text,
  quiet: flag,
  /** Local times as `22:00`. */
  quiet_from: text,
  quiet_to: text,
  /** The name in the IANA database. */
  timezone: text,
  digest: flag,
  window_minutes: number,
  /** The number of notifications of one kind within a window that are sent one by one. */
  threshold: number,
  /** The time before a task is due at which its owner is reminded, unless the task says another. */
  reminder_minutes: preset(orNull(number)),
});
export type NotificationSettingsRow = Row<typeof notificationSettingsTable>;

/** The choice of a kind for a channel, or for all channels if that is null. */
export const notificationChoiceTable = table('notification_choices', {
  user_id: text,
  kind: text,
  channel_id: orNull(text),
  enabled: flag,
});
export type NotificationChoiceRow = Row<typeof notificationChoiceTable>;

/**
 * Notifications that wait together: those of one kind, or, if that is null, those of quiet hours.
 */
export const noticeBatchTable = table('notice_batches', {
  id: text,
  user_id: text,
  kind: orNull(text),
  /** The number of notifications of its window that were sent one by one. */
  told: number,
  opened_at: text,
  closes_at: text,
});
export type NoticeBatchRow = Row<typeof noticeBatchTable>;

export const heldNoticeTable = table('held_notices', {
  notification_id: text,
  batch_id: text,
});
export type HeldNoticeRow = Row<typeof heldNoticeTable>;
