import { parentPort, workerData } from 'node:worker_threads';
import { PassphraseError } from '../../kernel/passphrase.js';
import { OpenRefused } from '../../store/engine/protocol.js';
import { binaryFault } from '../../store/thread/binary.js';
import { BadBackup } from './manifest.js';
import { Cancelled, type ProgressWatch } from './progress.js';
import type { BackupTask, ThreadInput, WorkerReport } from './work.js';

/** Minimum time between two progress reports. */
const EVERY_MS = 100;

const port = parentPort;
if (!port) throw new Error('Start the backup thread through startWork');
const { task, flag }: ThreadInput = workerData;
const say = (report: WorkerReport): void => port.postMessage(report);
const isCancelled = new Int32Array(flag);

let lastSaid = 0;
const watch: ProgressWatch = {
  step: (stage, done, total = 0) => {
    if (Atomics.load(isCancelled, 0) === 1) throw new Cancelled();
    const now = performance.now();
    if (now - lastSaid < EVERY_MS) return;
    lastSaid = now;
    say({ kind: 'step', step: { stage, done, total } });
  },
};

/** Loads only the code of the task: creating a backup needs a third of that of a verification. */
const perform = async (of: BackupTask): Promise<object> => {
  if (of.kind === 'create') return (await import('./create.js')).createBackup(of, watch);
  if (of.kind === 'verify') return (await import('./verify.js')).verifyBackup(of, watch);
  return (await import('./restore.js')).restoreBackup(of, watch);
};

const expected = [BadBackup, PassphraseError, OpenRefused, Cancelled];

/** An error that the operator can fix has a message only; any other keeps its stack. */
const toFailureReport = (error: unknown): WorkerReport => {
  if (!(error instanceof Error)) return { kind: 'failed', name: 'Broken', message: String(error) };
  if (expected.some((known) => error instanceof known)) {
    return { kind: 'failed', name: error.name, message: error.message };
  }
  const fault = binaryFault(error);
  if (fault !== null) return { kind: 'failed', name: 'OpenRefused', message: fault };
  const isOfDisk = 'code' in error && /^(SQLITE_)?[A-Z_]+$/.test(String(error.code));
  return isOfDisk
    ? { kind: 'failed', name: 'Disk', message: error.message }
    : { kind: 'failed', name: 'Broken', message: error.stack ?? error.message };
};

perform(task).then(
  (value) => say({ kind: 'done', value }),
  (error) => say(toFailureReport(error)),
);
