import { parentPort } from 'node:worker_threads';

/**
 * Ends this process once the one that started it has ended. It runs in a thread of its own, so that
 * native code which holds up the main thread does not keep the process alive. It says when it begins.
 */
const EVERY_MS = 1000;

const parent = process.ppid;

const check = (): void => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
};

setInterval(check, EVERY_MS);
parentPort?.postMessage('begun');
