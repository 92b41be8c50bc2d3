import { parentPort, workerData } from 'node:worker_threads';

export interface BandwidthTask {
  /** Size of each of the two blocks; larger than the caches. */
  bytes: number;
  ms: number;
}

const { bytes, ms }: BandwidthTask = workerData;
const [one, other] = [Buffer.alloc(bytes, 1), Buffer.alloc(bytes, 1)];
const begun = performance.now();
let read = 0;
// Equal blocks are compared to the end.
while (performance.now() - begun < ms && one.equals(other)) read += 2 * bytes;
parentPort?.postMessage((read * 1000) / (performance.now() - begun));
