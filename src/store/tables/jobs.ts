import { number, orNull, preset, type Row, table, text } from './table.js';

export const jobTable = table('jobs', {
  id: preset(number),
  kind: text,
  ref: text,
  lane: text,
  run_at: text,
  attempts: preset(number),
  boot: preset(orNull(text)),
});
export type JobRow = Row<typeof jobTable>;

export const idempotencyTable = table('idempotency', {
  user_id: text,
  route: text,
  key: text,
  body_digest: text,
  /** Null while the first call is running. */
  status: orNull(number),
  reply: orNull(text),
  created_at: text,
});
export type IdempotencyRow = Row<typeof idempotencyTable>;

export const factTable = table('facts', { name: text, value: text });

export const timerTable = table('timers', {
  name: text,
  due_at: text,
});
