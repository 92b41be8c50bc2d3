export interface NotificationRow {
  id: string;
  user_id: string;
  kind: string;
  title: string;
  body: string;
  link: string | null;
  /** Of the effect that it is, so that a repeat of it tells nobody twice. */
  effect_id: string | null;
  /** 1: what a hook says with `notifyOwner`, to which no preference applies. */
  direct: number;
  /** What it is about, in a word: the name of a hook. Many of a kind are counted by it. */
  about: string | null;
  /** How often what caused it came back to this daemon. */
  hops: number;
  read_at: string | null;
  created_at: string;
}
