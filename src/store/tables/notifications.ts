import { flag, number, orNull, preset, type Row, table, text } from './table.js';

export const notificationTable = table('notifications', {
  id: text,
  user_id: text,
  kind: text,
  title: text,
  body: text,
  /** The body as Markdown, with text from outside escaped; null: it is the body itself. */
  markdown: preset(orNull(text)),
  link: orNull(text),
  /** The id of the effect, so that a repeated effect notifies nobody twice. */
  effect_id: orNull(text),
  /** 1 for a message that a hook sends with `notifyOwner`, to which no preference applies. */
  direct: preset(flag),
  /** The subject in a word: the name of a hook. A digest counts notifications by it. */
  about: orNull(text),
  /** The number of times that its cause has come back to this daemon. */
  hops: preset(number),
  read_at: orNull(text),
  created_at: text,
});
export type NotificationRow = Row<typeof notificationTable>;
