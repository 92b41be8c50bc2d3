import { flag, number, orNull, preset, type Row, table, text } from './table.js';

export const notificationTable = table('notifications', {
  id: text,
  user_id: text,
  kind: text,
  title: text,
  body: text,
  /** Markdown with untrusted text escaped. Null if the body is already the Markdown. */
  markdown: preset(orNull(text)),
  link: orNull(text),
  effect_id: orNull(text),
  /** 1 for a hook with `notifyOwner`. Preferences do not apply. */
  direct: preset(flag),
  /** Subject such as the name of a hook, by which a digest counts. */
  about: orNull(text),
  hops: preset(number),
  read_at: orNull(text),
  created_at: text,
});
export type NotificationRow = Row<typeof notificationTable>;
