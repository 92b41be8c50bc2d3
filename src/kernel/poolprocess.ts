import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Cancel, type Clock, systemClock } from './clock.js';
import { type Pool, PoolFull, TaskLimitExceeded, type Tasks, ThreadTerminated } from './pool.js';

export interface PoolRequest {
  id: number;
  pool: string;
  asker: string;
  task: string;
  input: unknown;
}
export type PoolReply = { id: number } & ({ value: unknown } | { name: string; message: string });

/** Thread pools in a separate process, whose memory is freed when idle. */
export interface PoolProcess {
  pool<T extends Tasks>(name: string): Pick<Pool<T>, 'run'>;
  close(): Promise<void>;
}

interface PoolProcessOptions {
  script: URL;
  idleMs: number;
  clock?: Clock;
}

export const openPoolProcess = ({
  script,
  idleMs,
  clock = systemClock,
}: PoolProcessOptions): PoolProcess => {
  let running: RunningProcess | null = null;
  let cancelEnd: Cancel | undefined;

  const end = async (): Promise<void> => {
    cancelEnd?.();
    const last = running;
    running = null;
    await last?.end();
  };

  const ask = async <V>(request: Omit<PoolRequest, 'id'>): Promise<V> => {
    cancelEnd?.();
    if (!running?.isAlive) running = new RunningProcess(script);
    const asked = running;
    try {
      return await asked.ask<V>(request);
    } finally {
      cancelEnd?.();
      if (asked === running && asked.isIdle) cancelEnd = clock.after(idleMs, end, { ref: false });
    }
  };

  return {
    pool: <T extends Tasks>(pool: string) => ({
      run: <K extends keyof T & string>(asker: string, task: K, input: Parameters<T[K]>[0]) =>
        ask<Awaited<ReturnType<T[K]>>>({ pool, asker, task, input }),
    }),
    close: end,
  };
};

/** Messages between processes do not preserve error classes. */
const ERRORS = new Map(
  [PoolFull, TaskLimitExceeded, ThreadTerminated].map((each) => [each.name, each] as const),
);

class RunningProcess {
  isAlive = true;
  private readonly child: ChildProcess;
  private readonly pending = new Map<
    number,
    { resolve(value: unknown): void; reject(error: Error): void }
  >();
  private last = 0;

  constructor(script: URL) {
    this.child = fork(fileURLToPath(script), [], {
      env: {},
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child.unref();
    this.child.channel?.unref();
    this.child.on('message', (reply: PoolReply) => this.onMessage(reply));
    this.child.on('error', (error) => this.lose(error.message));
    this.child.on('exit', (code, signal) => this.lose(`it exited with ${signal ?? code}`));
  }

  get isIdle(): boolean {
    return this.pending.size === 0;
  }

  ask<V>(request: Omit<PoolRequest, 'id'>): Promise<V> {
    return new Promise((resolve, reject) => {
      this.last++;
      this.pending.set(this.last, { resolve, reject });
      this.child.send({ id: this.last, ...request }, (error) => {
        if (error) this.lose(error.message);
      });
    });
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.ref();
    this.child.kill('SIGKILL');
    await ended;
  }

  private onMessage(reply: PoolReply): void {
    const asked = this.pending.get(reply.id);
    this.pending.delete(reply.id);
    if ('value' in reply) asked?.resolve(reply.value);
    else asked?.reject(new (ERRORS.get(reply.name) ?? Error)(reply.message));
  }

  private lose(why: string): void {
    this.isAlive = false;
    for (const { reject } of this.pending.values()) {
      reject(new ThreadTerminated(`A worker process ended unexpectedly: ${why}`));
    }
    this.pending.clear();
  }
}
