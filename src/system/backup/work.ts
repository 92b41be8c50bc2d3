import { Worker } from 'node:worker_threads';
import type { Created, Creation } from './create.js';
import { type BackupStage, Cancelled } from './progress.js';
import type { RestoreResult, Restoring } from './restore.js';
import type { Verification, VerifiedBackup } from './verify.js';

export type Task =
  | ({ kind: 'create' } & Creation)
  | ({ kind: 'verify' } & Verification)
  | ({ kind: 'restore' } & Restoring);

interface Outcomes {
  create: Created;
  verify: VerifiedBackup;
  restore: RestoreResult;
}

/** How far it is. Bytes; `total` is 0 where nobody knows. */
export interface BackupProgress {
  stage: BackupStage;
  done: number;
  total: number;
}

export interface ThreadInput {
  task: Task;
  /** Of one number: 1 where it is to end. */
  flag: SharedArrayBuffer;
}

export type WorkerReport =
  | { kind: 'step'; step: BackupProgress }
  | { kind: 'done'; value: object }
  | { kind: 'failed'; name: string; message: string };

/** It did not come about; the message is for the operator. */
export class WorkFailed extends Error {
  constructor(
    message: string,
    /** `BadBackup`, `PassphraseError`, `OpenRefused`, `Disk`; `Broken` is our own mistake. */
    readonly reason: string,
  ) {
    super(message);
    this.name = 'WorkFailed';
  }
}

export interface BackupWork<T> {
  /** WorkFailed, Cancelled. By then its temporary files are gone. */
  done: Promise<T>;
  /** The last that was heard; null before the first. */
  step(): BackupProgress | null;
  cancel(): void;
}

/** Begins it in a thread of its own. */
export const startWork = <K extends Task['kind']>(
  task: Extract<Task, { kind: K }>,
  told: (step: BackupProgress) => void = () => undefined,
): BackupWork<Outcomes[K]> => {
  const flag = new SharedArrayBuffer(4);
  const workerData: ThreadInput = { task, flag };
  const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData });
  let last: BackupProgress | null = null;
  const done = new Promise<Outcomes[K]>((resolve, reject) => {
    worker.on('message', (said: WorkerReport & { value: Outcomes[K] }) => {
      if (said.kind === 'done') resolve(said.value);
      else if (said.kind === 'failed') reject(errorOf(said));
      else {
        last = said.step;
        told(said.step);
      }
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new WorkFailed('The thread of the backup ended', 'Broken')));
  });
  return { done, step: () => last, cancel: () => Atomics.store(new Int32Array(flag), 0, 1) };
};

const errorOf = ({ name, message }: { name: string; message: string }): Error =>
  name === 'Cancelled' ? new Cancelled() : new WorkFailed(message, name);
