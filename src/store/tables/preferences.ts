/** A user's quiet hours and digests; without a row both are off. */
export interface NotificationSettingsRow {
  user_id: string;
  quiet: number;
  /** Local times as `22:00`. */
  quiet_from: string;
  quiet_to: string;
  /** By its name in the IANA database. */
  timezone: string;
  digest: number;
  window_minutes: number;
  /** Of one kind within a window, so many are told one by one. */
  threshold: number;
}

/** Whether a kind goes to a channel, or to all of them where that is null. */
export interface NotificationChoiceRow {
  user_id: string;
  kind: string;
  channel_id: string | null;
  enabled: number;
}

/** Notices that wait together: of one kind, or, where that is null, of quiet hours. */
export interface NoticeBatchRow {
  id: string;
  user_id: string;
  kind: string | null;
  /** How many of its window were told one by one. */
  told: number;
  opened_at: string;
  closes_at: string;
}

export interface HeldNoticeRow {
  notification_id: string;
  batch_id: string;
}
