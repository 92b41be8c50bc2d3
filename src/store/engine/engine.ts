import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  type AuditReport,
  ExpectationFailed,
  OpenRefused,
  type OpenReport,
  type StoreWork,
  type ThreadOptions,
  type ThreadReply,
  type ThreadRequest,
  Unavailable,
  UniqueViolation,
  type WorkResult,
} from './protocol.js';

interface PendingWork {
  work: StoreWork;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface EngineEvents {
  /** All waiting calls have failed by then. Called once. */
  lost(error: Error): void;
  audited(report: AuditReport): void;
}

/**
 * Measured: sending this many calls early to an idle thread, before the turn ends, gives 8 % more
 * deliveries.
 */
const ENOUGH = 16;

const ENDED = 'The database thread has ended';

/**
 * Calls of one turn are sent as few messages. Waiting messages share one transaction: group commit
 * (DeWitt et al., SIGMOD 1984), driven by load instead of a timer.
 */
export class Engine {
  private waiting: PendingWork[] = [];
  private readonly underway = new Map<number, PendingWork[]>();
  private busySince = 0;
  private lastId = 0;
  private isOver = false;
  performed = 0;
  refusals = 0;
  /** Called with the lanes of queued jobs, before the callers continue. */
  queued: (lanes: string[]) => void = () => undefined;

  constructor(
    private readonly worker: Worker,
    readonly opened: OpenReport,
    private readonly events: EngineEvents,
  ) {
    worker.on('message', (reply: ThreadReply) => this.hear(reply));
    worker.on('error', (error) => this.lose(error));
    worker.on('exit', () => this.lose(new Error(ENDED)));
  }

  /** Throws Unmet, Taken, Unavailable, or the error of the statement. */
  perform(work: StoreWork): Promise<unknown> {
    if (this.isOver) return Promise.reject(new Unavailable(ENDED));
    this.performed++;
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => this.flush());
      this.waiting.push({ work, resolve, reject });
      if (this.waiting.length >= ENOUGH && this.underway.size === 0) this.flush();
    });
  }

  get pending(): number {
    let pending = this.waiting.length;
    for (const works of this.underway.values()) pending += works.length;
    return pending;
  }

  busyMs(): number {
    return this.underway.size === 0 ? 0 : performance.now() - this.busySince;
  }

  checkpoint(): void {
    if (!this.isOver) this.post({ kind: 'checkpoint' });
  }

  async close(): Promise<void> {
    if (this.isOver) return;
    this.flush();
    this.isOver = true;
    this.post({ kind: 'close' });
    await once(this.worker, 'exit');
  }

  private flush(): void {
    if (this.waiting.length === 0) return;
    const waiters = this.waiting;
    this.waiting = [];
    const id = ++this.lastId;
    if (this.underway.size === 0) this.busySince = performance.now();
    this.underway.set(id, waiters);
    this.post({ kind: 'batch', id, works: waiters.map(({ work }) => work) });
  }

  private post(request: ThreadRequest): void {
    this.worker.postMessage(request);
  }

  private hear(reply: ThreadReply): void {
    if (reply.kind !== 'answers') return;
    if (reply.audit) this.events.audited(reply.audit);
    for (const { id, answers } of reply.batches) {
      const waiters = this.underway.get(id) ?? [];
      this.underway.delete(id);
      this.busySince = performance.now();
      waiters.forEach((waiter, at) => {
        const answer = answers[at];
        if (answer && 'failure' in answer && answer.failure.name === 'Unavailable') this.refusals++;
        settle(waiter, answer);
      });
    }
    if (reply.lanes.length > 0) this.queued(reply.lanes);
  }

  private lose(error: Error): void {
    const waiters = [...[...this.underway.values()].flat(), ...this.waiting];
    this.underway.clear();
    this.waiting = [];
    for (const { reject } of waiters) reject(new Unavailable(ENDED));
    if (this.isOver) return;
    this.isOver = true;
    this.events.lost(error);
  }
}

export interface StartingThread {
  open(events: EngineEvents): Promise<Engine>;
  drop(): void;
}

export const startThread = (options: ThreadOptions): StartingThread => {
  const worker = new Worker(new URL('../thread/thread.js', import.meta.url), {
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 8 },
  });
  // Registered at once, because a busy event loop receives a thread's last message and its end
  // together.
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const replies: Promise<ThreadReply[]> = Promise.race([
    once(worker, 'message'),
    ended.then(() => []),
  ]);
  replies.catch(() => undefined);
  const post = (request: ThreadRequest): void => worker.postMessage(request);
  return {
    open: async (events) => {
      post({ kind: 'open' });
      const [reply] = await replies;
      if (reply?.kind === 'opened') {
        if (reply.audit) events.audited(reply.audit);
        return new Engine(worker, reply.opened, events);
      }
      await ended;
      throw new OpenRefused(reply?.kind === 'refused' ? reply.message : ENDED);
    },
    drop: () => post({ kind: 'close' }),
  };
};

const settle = ({ resolve, reject }: PendingWork, answer: WorkResult | undefined): void => {
  if (answer && 'value' in answer) resolve(answer.value);
  else reject(toStoreError(answer));
};

const toStoreError = (answer: Exclude<WorkResult, { value: unknown }> | undefined): Error => {
  if (!answer) return new Error('The database thread did not reply');
  const { name, message, at } = answer.failure;
  if (name === 'ExpectationFailed') return new ExpectationFailed(message, at ?? 0);
  if (name === 'UniqueViolation') return new UniqueViolation(message);
  if (name === 'Unavailable') return new Unavailable(message);
  return new Error(message);
};
