/** A user's quiet hours and digests. Without a row both are off. */
export interface NotificationSettingsRow {
  user_id: string;
  quiet: number;
  /** Local times as `22:00`. */
  quiet_from: string;
  quiet_to: string;
  /** The name in the IANA database. */
  timezone: string;
  digest: number;
  window_minutes: number;
  /** The number of notifications of one kind within a window that are sent one by one. */
  threshold: number;
}

/** The choice of a kind for a channel, or for all channels if that is null. */
export interface NotificationChoiceRow {
  user_id: string;
  kind: string;
  channel_id: string | null;
  enabled: number;
}

/**
 * Notifications that wait together: those of one kind, or, if that is null, those of quiet hours.
 */
export interface NoticeBatchRow {
  id: string;
  user_id: string;
  kind: string | null;
  /** The number of notifications of its window that were sent one by one. */
  told: number;
  opened_at: string;
  closes_at: string;
}

export interface HeldNoticeRow {
  notification_id: string;
  batch_id: string;
}
