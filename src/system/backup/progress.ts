export type BackupStage = 'database' | 'files' | 'digests' | 'checks' | 'copy' | 'drill';

/** An observer of a backup that is made or read. */
export interface ProgressWatch {
  /** Reports the progress in bytes. Throws Cancelled if the work is to end. */
  step(stage: BackupStage, done: number, total?: number): void;
}

export class Cancelled extends Error {
  override name = 'Cancelled';
  override message = 'It was cancelled';
}
