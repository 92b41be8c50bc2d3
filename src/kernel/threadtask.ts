import { Worker } from 'node:worker_threads';

export interface ThreadTask {
  /** The script. It gets `input` as its `workerData`, and posts one message. */
  file: URL;
  input: unknown;
  /** The longest time in milliseconds, after which the thread is ended. */
  limitMs: number;
  /** The message of the error if the thread ends without a reply. */
  failure: string;
}

/** Runs a script in a thread of its own, once. Resolves to what it posts; fails as it fails. */
export const inThread = <T>({ file, input, limitMs, failure }: ThreadTask): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const worker = new Worker(file, { workerData: input });
    const late = setTimeout(() => worker.terminate(), limitMs);
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => {
      clearTimeout(late);
      reject(new Error(failure));
    });
  });
