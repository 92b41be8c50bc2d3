import { parentPort, workerData } from 'node:worker_threads';

/** The input of the thread that reads memory as fast as it can. */
export interface BandwidthTask {
  /** Bytes of each of the two blocks; more than the caches hold. */
  bytes: number;
  /** The time to read for, in milliseconds. */
  ms: number;
}

const { bytes, ms }: BandwidthTask = workerData;
const [one, other] = [Buffer.alloc(bytes, 1), Buffer.alloc(bytes, 1)];
const begun = performance.now();
let read = 0;
// Equal blocks are compared to their end.
while (performance.now() - begun < ms && one.equals(other)) read += 2 * bytes;
parentPort?.postMessage((read * 1000) / (performance.now() - begun));
