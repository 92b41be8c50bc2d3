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
  /** The status of the reply. null: the first call is still running. */
  status: orNull(number),
  reply: orNull(text),
  created_at: text,
});
export type IdempotencyRow = Row<typeof idempotencyTable>;

/** Single values of the installation, by name. */
export const factTable = table('facts', { name: text, value: text });

/** The next due times of work that the daemon does at intervals. */
export const timerTable = table('timers', {
  name: text,
  due_at: text,
});
