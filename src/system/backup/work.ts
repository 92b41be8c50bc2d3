import { Worker } from 'node:worker_threads';
import type { BackupMade, BackupProgress, VerifiedBackup } from './contract.js';
import type { BackupCreation } from './create.js';
import { Cancelled } from './progress.js';
import type { RestoreOptions, RestoreResult } from './restore.js';
import type { BackupCheckOptions } from './verify.js';

export type BackupTask =
  | ({ kind: 'create' } & BackupCreation)
  | ({ kind: 'verify' } & BackupCheckOptions)
  | ({ kind: 'restore' } & RestoreOptions);

interface Outcomes {
  create: BackupMade;
  verify: VerifiedBackup;
  restore: RestoreResult;
}

export interface ThreadInput {
  task: BackupTask;
  /** A buffer with one number, which is 1 if the work must end. */
  flag: SharedArrayBuffer;
}

export type WorkerReport =
  | { kind: 'step'; step: BackupProgress }
  | { kind: 'done'; value: object }
  | { kind: 'failed'; name: string; message: string };

/** The message is for the operator. */
export class BackupWorkFailed extends Error {
  constructor(
    message: string,
    /** `BadBackup`, `PassphraseError`, `OpenRefused`, `Disk`; `Broken` is a bug in the program. */
    readonly reason: string,
  ) {
    super(message);
    this.name = 'BackupWorkFailed';
  }
}

export interface BackupWork<T> {
  /** Rejects with BackupWorkFailed or Cancelled, after the temporary files were removed. */
  done: Promise<T>;
  /** The last reported progress; null before the first report. */
  step(): BackupProgress | null;
  cancel(): void;
}

export const startWork = <K extends BackupTask['kind']>(
  task: Extract<BackupTask, { kind: K }>,
  onStep: (step: BackupProgress) => void = () => undefined,
): BackupWork<Outcomes[K]> => {
  const flag = new SharedArrayBuffer(4);
  const workerData: ThreadInput = { task, flag };
  const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData });
  let last: BackupProgress | null = null;
  const done = new Promise<Outcomes[K]>((resolve, reject) => {
    worker.on('message', (report: WorkerReport & { value: Outcomes[K] }) => {
      if (report.kind === 'done') resolve(report.value);
      else if (report.kind === 'failed') reject(toBackupError(report));
      else {
        last = report.step;
        onStep(report.step);
      }
    });
    worker.once('error', reject);
    worker.once('exit', () =>
      reject(new BackupWorkFailed('The thread of the backup ended unexpectedly', 'Broken')),
    );
  });
  return { done, step: () => last, cancel: () => Atomics.store(new Int32Array(flag), 0, 1) };
};

const toBackupError = ({ name, message }: { name: string; message: string }): Error =>
  name === 'Cancelled' ? new Cancelled() : new BackupWorkFailed(message, name);
