import { Worker } from 'node:worker_threads';
import {
  type Answer,
  type Opened,
  OpenRefused,
  type Reply,
  type Request,
  Taken,
  type ThreadOptions,
  Unavailable,
  Unmet,
  type Work,
} from './protocol.js';

/** The event loop's end of one database thread. */
export interface Engine {
  opened: Opened;
  /** What is asked during one turn of the event loop leaves as one message. */
  perform(work: Work): Promise<unknown>;
  snapshot(to: string): Promise<void>;
  close(): Promise<void>;
}

interface Waiter {
  work: Work;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * Starts a database thread. The writer has one batch on its way at a time: while its fsync runs,
 * the next batch gathers (group commit). The reader is fed as work comes in.
 * `onLost` is called once when the thread ends by itself; all who wait have failed by then.
 */
export const startEngine = async (
  options: ThreadOptions,
  onLost: (error: Error) => void,
): Promise<Engine> => {
  const worker = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 8 },
  });
  const opened = await awaitOpening(worker);
  const onePerTime = options.role === 'writer';
  let waiting: Waiter[] = [];
  const underway = new Map<number, Waiter[]>();
  const errands = new Map<number, { resolve(): void; reject(error: Error): void }>();
  let nextId = 0;
  let isScheduled = false;
  let lost: Error | null = null;

  const post = (request: Request): void => worker.postMessage(request);

  const flush = (): void => {
    isScheduled = false;
    if (waiting.length === 0 || (onePerTime && underway.size > 0)) return;
    const batch = waiting;
    waiting = [];
    const id = ++nextId;
    underway.set(id, batch);
    post({ kind: 'batch', id, works: batch.map(({ work }) => work) });
  };

  const schedule = (): void => {
    if (isScheduled || (onePerTime && underway.size > 0)) return;
    isScheduled = true;
    setImmediate(flush);
  };

  const settle = (id: number, answers: Answer[]): void => {
    const batch = underway.get(id) ?? [];
    underway.delete(id);
    batch.forEach((waiter, at) => {
      const answer = answers[at];
      if (answer && 'value' in answer) waiter.resolve(answer.value);
      else waiter.reject(errorOf(answer));
    });
    if (waiting.length > 0) schedule();
  };

  const lose = (error: Error): void => {
    if (lost) return;
    lost = error;
    const failure = new Unavailable('The database thread has ended');
    for (const waiter of [...[...underway.values()].flat(), ...waiting]) waiter.reject(failure);
    for (const errand of errands.values()) errand.reject(failure);
    underway.clear();
    waiting = [];
    onLost(error);
  };

  worker.on('message', (reply: Reply) => {
    if (reply.kind === 'answers') return settle(reply.id, reply.answers);
    if (reply.kind !== 'done') return;
    const errand = errands.get(reply.id);
    errands.delete(reply.id);
    if (reply.failure) errand?.reject(new Unavailable(reply.failure));
    else errand?.resolve();
  });
  worker.on('error', lose);
  worker.on('exit', () => lose(new Error('The database thread has ended')));

  const run = (make: (id: number) => Request): Promise<void> => {
    if (lost) return Promise.reject(new Unavailable('The database thread has ended'));
    const id = ++nextId;
    post(make(id));
    return new Promise((resolve, reject) => errands.set(id, { resolve, reject }));
  };

  const drained = async (): Promise<void> => {
    while (waiting.length > 0 || underway.size > 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  return {
    opened,
    perform: (work) =>
      new Promise((resolve, reject) => {
        if (lost) return reject(new Unavailable('The database thread has ended'));
        waiting.push({ work, resolve, reject });
        schedule();
      }),
    snapshot: (to) => run((id) => ({ kind: 'snapshot', id, to })),
    close: async () => {
      await drained();
      if (lost) return;
      const ended = run((id) => ({ kind: 'close', id }));
      await ended;
      lost = new Error('closed');
      await new Promise((resolve) => worker.once('exit', resolve));
    },
  };
};

const awaitOpening = (worker: Worker): Promise<Opened> =>
  new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (reply: Reply) => {
      worker.off('error', reject);
      if (reply.kind === 'opened') resolve(reply.opened);
      else reject(new OpenRefused(reply.kind === 'refused' ? reply.message : 'Unexpected reply'));
    });
  });

const errorOf = (answer: Answer | undefined): Error => {
  if (!answer || 'value' in answer) return new Error('No answer from the database thread');
  const { name, message, at } = answer.failure;
  if (name === 'Unmet') return new Unmet(message, at ?? 0);
  if (name === 'Taken') return new Taken(message);
  if (name === 'Unavailable') return new Unavailable(message);
  return new Error(message);
};
