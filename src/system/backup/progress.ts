import type { BackupProgress } from './contract.js';

export interface ProgressWatch {
  /** Reports progress in bytes. Throws Cancelled if the work must end. */
  step(stage: BackupProgress['stage'], done: number, total?: number): void;
}

export class Cancelled extends Error {
  override name = 'Cancelled';
  override message = 'The backup or verification was cancelled';
}
