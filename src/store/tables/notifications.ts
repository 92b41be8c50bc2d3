export interface NotificationRow {
  id: string;
  user_id: string;
  kind: string;
  title: string;
  body: string;
  link: string | null;
  /** The id of the effect, so that a repeated effect notifies nobody twice. */
  effect_id: string | null;
  /** 1 for a message that a hook sends with `notifyOwner`, to which no preference applies. */
  direct: number;
  /** The subject in a word: the name of a hook. A digest counts notifications by it. */
  about: string | null;
  /** The number of times that its cause has come back to this daemon. */
  hops: number;
  read_at: string | null;
  created_at: string;
}
