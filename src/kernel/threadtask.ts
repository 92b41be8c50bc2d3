import { Worker } from 'node:worker_threads';
import { systemClock } from './clock.js';
import { errorCode } from './failure.js';
import { TaskLimitExceeded } from './pool.js';

export interface ThreadTask {
  file: URL;
  input: unknown;
  /** In milliseconds. */
  limitMs: number;
  heapMb?: number;
  signal?: AbortSignal;
  failure: string;
}

/**
 * Runs a script once in a thread. Throws its error, TaskLimitExceeded above the limits, and the reason of
 * the signal.
 */
export const inThread = <T>(task: ThreadTask): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const { file, input, limitMs, heapMb, signal, failure } = task;
    signal?.throwIfAborted();
    const worker = new Worker(file, {
      workerData: input,
      ...(heapMb !== undefined && { resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
    });
    const end = (error: unknown): void => {
      reject(error);
      worker.terminate().catch(() => undefined);
    };
    const cancel = systemClock.after(limitMs, () => end(new TaskLimitExceeded(failure)));
    const abort = (): void => end(signal?.reason);
    signal?.addEventListener('abort', abort);
    worker.once('message', resolve);
    worker.once('error', (error) =>
      reject(errorCode(error) === OUT_OF_MEMORY ? new TaskLimitExceeded(failure) : error),
    );
    worker.once('exit', () => {
      cancel();
      signal?.removeEventListener('abort', abort);
      reject(new Error(failure));
    });
  });

const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';
