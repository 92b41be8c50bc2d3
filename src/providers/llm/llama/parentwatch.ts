import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../../kernel/clock.js';

/**
 * Ends this process when its parent has ended. It runs in its own thread, because native code may
 * block the main thread.
 */
const EVERY_MS = 1000;

const parent = process.ppid;

const check = (): void => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
};

systemClock.every(EVERY_MS, check);
parentPort?.postMessage('begun');
