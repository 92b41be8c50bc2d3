export interface BackupRow {
  id: string;
  kind: 'create' | 'verify';
  cause: 'asked' | 'scheduled';
  status: 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';
  /** Absolute. */
  file: string;
  /** What was made or proved, as JSON. */
  report: string | null;
  error: string | null;
  created_at: string;
  finished_at: string | null;
  /** When its file made room for newer ones. */
  removed_at: string | null;
}
