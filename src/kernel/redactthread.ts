import { parentPort, workerData } from 'node:worker_threads';
import { redacted, redactor } from './redact.js';

/** Thread of `redactApart`: redacts one value, sends one reply and ends. */
const { value, values, shown }: { value: unknown; values: string[]; shown?: string } = workerData;
parentPort?.postMessage(redacted(value, redactor(values, shown)));
