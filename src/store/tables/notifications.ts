export interface NotificationRow {
  id: string;
  user_id: string;
  kind: string;
  title: string;
  body: string;
  link: string | null;
  /** Of the effect that it is, so that a repeat of it tells nobody twice. */
  effect_id: string | null;
  read_at: string | null;
  created_at: string;
}
