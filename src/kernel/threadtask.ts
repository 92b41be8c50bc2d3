import { Worker } from 'node:worker_threads';
import { errorCode } from './failure.js';
import { TaskOverran } from './pool.js';

export interface ThreadTask {
  /** The script. It gets `input` as its `workerData`, and posts one message. */
  file: URL;
  input: unknown;
  /** The longest time in milliseconds, after which the thread is ended. */
  limitMs: number;
  /** The limit of the thread's heap in megabytes; that of the process unless given. */
  heapMb?: number;
  /** Ends the thread when it is aborted. */
  signal?: AbortSignal;
  /** The message of the error if the thread ends without a reply. */
  failure: string;
}

/**
 * Runs a script in a thread of its own, once. Resolves to what it posts; fails as it fails, with
 * TaskOverran if it took too much time or memory, and with the reason of the signal.
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
      // It ends in any case; the exit is waited for below.
      worker.terminate().catch(() => undefined);
    };
    const late = setTimeout(() => end(new TaskOverran(failure)), limitMs);
    const abort = (): void => end(signal?.reason);
    signal?.addEventListener('abort', abort);
    worker.once('message', resolve);
    worker.once('error', (error) =>
      reject(errorCode(error) === OUT_OF_MEMORY ? new TaskOverran(failure) : error),
    );
    worker.once('exit', () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', abort);
      reject(new Error(failure));
    });
  });

const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';
