import { parentPort, workerData } from 'node:worker_threads';
import { fuzz } from './fuzzer.js';

/** The fuzzer as a worker thread: its options are the thread's data, its report the one message. */
parentPort?.postMessage(await fuzz(workerData));
