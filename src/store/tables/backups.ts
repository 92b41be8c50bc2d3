export interface BackupRow {
  id: string;
  kind: 'create' | 'verify';
  cause: 'asked' | 'scheduled';
  status: 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';
  /** The absolute path. */
  file: string;
  /** The result of the backup or the verification, as JSON. */
  report: string | null;
  error: string | null;
  created_at: string;
  finished_at: string | null;
  /** The time when its file was removed in favour of newer ones. */
  removed_at: string | null;
}
