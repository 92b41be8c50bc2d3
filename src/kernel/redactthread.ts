import { parentPort, workerData } from 'node:worker_threads';
import { redacted, redactor } from './redact.js';

const { value, values, shown }: { value: unknown; values: string[]; shown?: string } = workerData;
parentPort?.postMessage(redacted(value, redactor(values, shown)));
