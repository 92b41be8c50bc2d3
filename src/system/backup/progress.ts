export type BackupStage = 'database' | 'files' | 'digests' | 'checks' | 'copy' | 'drill';

/** Who looks on while a backup is made or read. */
export interface ProgressWatch {
  /** How far it is, in bytes. Throws Cancelled where it is to end. */
  step(stage: BackupStage, done: number, total?: number): void;
}

export class Cancelled extends Error {
  override name = 'Cancelled';
  override message = 'It was cancelled';
}
