import { flag, number, orNull, preset, type Row, table, text } from './table.js';

/** Without a row both are off. */
export const notificationSettingsTable = table('notification_settings', {
  user_id: text,
  quiet: flag,
  quiet_from: text,
  quiet_to: text,
  timezone: text,
  digest: flag,
  window_minutes: number,
  /** Notifications of a kind per window that are sent one by one. */
  threshold: number,
  reminder_minutes: preset(orNull(number)),
});
export type NotificationSettingsRow = Row<typeof notificationSettingsTable>;

/** For a channel, or for all channels if it is null. */
export const notificationChoiceTable = table('notification_choices', {
  user_id: text,
  kind: text,
  channel_id: orNull(text),
  enabled: flag,
});
export type NotificationChoiceRow = Row<typeof notificationChoiceTable>;

/** Pending notifications of one kind, or of quiet hours if it is null. */
export const noticeBatchTable = table('notice_batches', {
  id: text,
  user_id: text,
  kind: orNull(text),
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
