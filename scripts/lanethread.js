import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

/**
 * A thread of a lane that runs one script after another, each with its own port and data as in a new
 * thread. See lanethreads.js.
 */
const { parentPort: lane } = threads;
// The database threads would otherwise release memory half a second after each start, in 80 ms.
Object.defineProperty(process.features, 'inspector', { value: false });

let runs = 0;
lane.on('message', async ({ script, port, workerData }) => {
  Object.assign(threads, { parentPort: port, workerData });
  syncBuiltinESMExports();
  port.once('close', () => lane.postMessage('idle'));
  // A script that was imported before does not run again.
  await import(`${script}?run=${++runs}`);
});
