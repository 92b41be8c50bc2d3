import { parentPort, workerData } from 'node:worker_threads';
import { redacted, redactor } from './redact.js';

/** The file that the thread of `redactApart` runs: one value, one answer, and it ends. */
const { value, values, shown }: { value: unknown; values: string[]; shown?: string } = workerData;
parentPort?.postMessage(redacted(value, redactor(values, shown)));
