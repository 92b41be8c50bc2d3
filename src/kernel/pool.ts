import { Worker } from 'node:worker_threads';
import { type Cancel, type Clock, systemClock } from './clock.js';
import { errorCode, NamedError } from './failure.js';
import { createFairQueue, QueueFull } from './fairqueue.js';

export class PoolFull extends NamedError {
  override message = 'The queue of the worker threads is full';
}

export class ThreadTerminated extends NamedError {}

/** The thread was ended because of the task itself, so a retry would fail as well. */
export class TaskLimitExceeded extends ThreadTerminated {}

export type Tasks = Record<string, (input: never) => unknown>;

export type RunTask<T extends Tasks> = <K extends keyof T & string>(
  asker: string,
  task: K,
  input: Parameters<T[K]>[0],
) => Promise<Awaited<ReturnType<T[K]>>>;

export interface Pool<T extends Tasks> {
  /**
   * Callers take turns: a caller with many tasks waits behind one with few, and cannot use all
   * threads.
   */
  run: RunTask<T>;
  close(): Promise<void>;
}

export interface TaskRequest {
  task: string;
  input: unknown;
}
export type TaskReply = { value: unknown } | { failure: string };

export interface PoolOptions {
  script: URL;
  size: number;
  waiting: number;
  /** Time limit of a task in milliseconds, after which the thread is ended. */
  limitMs: number;
  heapMb: number;
  idleMs: number;
  given?: unknown;
  clock?: Clock;
}

export const createPool = <T extends Tasks>(options: PoolOptions): Pool<T> => {
  const { size, waiting } = options;
  const turns = createFairQueue({ atOnce: size, each: Math.max(1, size - 1), waiting });
  const idle: PoolThread[] = [];
  const live = new Set<PoolThread>();

  const start = (): PoolThread => {
    const thread = new PoolThread(options, () => {
      live.delete(thread);
      const at = idle.indexOf(thread);
      if (at >= 0) idle.splice(at, 1);
    });
    live.add(thread);
    return thread;
  };

  return {
    run: <K extends keyof T & string>(asker: string, task: K, input: Parameters<T[K]>[0]) =>
      turns
        .take(asker, () => {
          const thread = idle.pop() ?? start();
          const result = thread.perform<Awaited<ReturnType<T[K]>>>({ task, input });
          return result.finally(() => live.has(thread) && idle.push(thread));
        })
        .catch((error) => {
          throw error instanceof QueueFull ? new PoolFull() : error;
        }),
    close: async () => {
      await Promise.all([...live].map((thread) => thread.end()));
    },
  };
};

interface PendingTask {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const LOST = 'A worker thread ended unexpectedly';
/** Megabytes for new objects. The default of 48 would be filled and kept. */
const YOUNG_MB = 8;

class PoolThread {
  private readonly worker: Worker;
  private underway: PendingTask | null = null;
  private cancel: Cancel | undefined;

  constructor(
    private readonly options: PoolOptions,
    private readonly ended: () => void,
  ) {
    this.worker = new Worker(options.script, {
      env: {},
      workerData: options.given,
      resourceLimits: {
        maxOldGenerationSizeMb: options.heapMb,
        maxYoungGenerationSizeMb: YOUNG_MB,
      },
    });
    this.worker.unref();
    this.worker.on('message', (reply: TaskReply) => this.onMessage(reply));
    this.worker.on('error', (error) => {
      if (errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY')
        this.overrun(`it used more than ${options.heapMb} MB of memory`);
      else this.lose(new ThreadTerminated(`${LOST}: ${error.message}`));
    });
    this.worker.on('exit', () => this.lose(new ThreadTerminated(`${LOST}: it exited`)));
  }

  perform<V>(request: TaskRequest): Promise<V> {
    return new Promise((resolve, reject) => {
      this.underway = { resolve, reject };
      const { limitMs } = this.options;
      this.endAfter(limitMs, () => this.overrun(`it took longer than ${limitMs / 1000} s`));
      this.worker.postMessage(request);
    });
  }

  async end(): Promise<void> {
    this.cancel?.();
    await this.worker.terminate();
  }

  private endAfter(ms: number, lose: () => void): void {
    const { clock = systemClock } = this.options;
    const due = (): void => {
      lose();
      this.end().catch(() => undefined);
    };
    this.cancel?.();
    this.cancel = clock.after(ms, due, { ref: false });
  }

  private onMessage(reply: TaskReply): void {
    const { underway } = this;
    this.underway = null;
    this.endAfter(this.options.idleMs, () =>
      this.lose(new ThreadTerminated(`${LOST}: it was idle`)),
    );
    if ('value' in reply) underway?.resolve(reply.value);
    else underway?.reject(new Error(reply.failure));
  }

  private overrun(why: string): void {
    this.lose(new TaskLimitExceeded(`${LOST}: ${why}`));
  }

  private lose(error: ThreadTerminated): void {
    this.cancel?.();
    this.ended();
    this.underway?.reject(error);
    this.underway = null;
  }
}
