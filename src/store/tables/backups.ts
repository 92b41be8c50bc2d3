import { json, literal, orNull, type Row, table, text } from './table.js';

export const backupTable = table('backups', {
  id: text,
  kind: literal<'create' | 'verify'>(),
  cause: literal<'asked' | 'scheduled'>(),
  status: literal<'running' | 'done' | 'failed' | 'cancelled' | 'interrupted'>(),
  file: text,
  report: orNull(json()),
  error: orNull(text),
  created_at: text,
  finished_at: orNull(text),
  removed_at: orNull(text),
});
export type BackupRow = Row<typeof backupTable>;
