import { json, literal, number, orNull, type Row, table, text } from './table.js';

export const auditTable = table('audit', {
  /** From 1 without gaps. */
  number: number,
  id: text,
  at: text,
  actor_id: text,
  impersonator_id: orNull(text),
  action: text,
  target: orNull(text),
  outcome: literal<'ok' | 'denied' | 'failed'>(),
  ip: text,
  request_id: text,
  data: orNull(json()),
  /** HMAC-SHA256 over the row and the previous MAC, in hex. */
  mac: text,
});
export type AuditRow = Row<typeof auditTable>;
