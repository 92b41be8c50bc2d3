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

/** The progress in bytes. `total` is 0 if it is unknown. */
export interface BackupProgress {
  stage: BackupStage;
  done: number;
  total: number;
}

export interface ThreadInput {
  task: Task;
  /** Buffer with one number, which is 1 if the work is to end. */
  flag: SharedArrayBuffer;
}

export type WorkerReport =
  | { kind: 'step'; step: BackupProgress }
  | { kind: 'done'; value: object }
  | { kind: 'failed'; name: string; message: string };

/** The error for work that failed. The message is for the operator. */
export class WorkFailed extends Error {
  constructor(
    message: string,
    /**
     * `BadBackup`, `PassphraseError`, `OpenRefused` or `Disk`; `Broken` is an error in this
     * program.
     */
    readonly reason: string,
  ) {
    super(message);
    this.name = 'WorkFailed';
  }
}

export interface BackupWork<T> {
  /** Rejects with WorkFailed or Cancelled. By then the temporary files are removed. */
  done: Promise<T>;
  /** Returns the last progress that was reported; null before the first. */
  step(): BackupProgress | null;
  cancel(): void;
}

/** Begins a task in a thread of its own. */
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
