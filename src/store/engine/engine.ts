import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  type AuditReport,
  OpenRefused,
  type OpenReport,
  type StoreWork,
  Taken,
  type ThreadOptions,
  type ThreadReply,
  type ThreadRequest,
  Unavailable,
  Unmet,
  type WorkResult,
} from './protocol.js';

interface PendingWork {
  work: StoreWork;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** What a thread says unasked. */
export interface EngineEvents {
  /** It ended by itself; all who waited have failed by then. Said once. */
  lost(error: Error): void;
  audited(report: AuditReport): void;
}

/**
 * Ours, measured: so many are sent on before the turn has ended where the thread has nothing to do.
 * Else a turn that brings much would keep it waiting, and then be waited for: 8 % more deliveries.
 */
const ENOUGH = 16;

const ENDED = 'The database thread has ended';

/**
 * The event loop's end of one database thread. What is asked during one turn leaves as one message,
 * or as a few, and all messages that the writing thread finds waiting share one transaction: group
 * commit (DeWitt et al., SIGMOD 1984), led by the load instead of a timer.
 */
export class Engine {
  private waiting: PendingWork[] = [];
  private readonly underway = new Map<number, PendingWork[]>();
  private lastId = 0;
  private isOver = false;
  /** How often something could not be written or read (Unavailable). */
  refusals = 0;

  constructor(
    private readonly worker: Worker,
    readonly opened: OpenReport,
    private readonly events: EngineEvents,
  ) {
    worker.on('message', (reply: ThreadReply) => this.hear(reply));
    worker.on('error', (error) => this.lose(error));
    worker.on('exit', () => this.lose(new Error(ENDED)));
  }

  /** Unmet, Taken, Unavailable, or what the statement itself threw. */
  perform(work: StoreWork): Promise<unknown> {
    if (this.isOver) return Promise.reject(new Unavailable(ENDED));
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => this.flush());
      this.waiting.push({ work, resolve, reject });
      if (this.waiting.length >= ENOUGH && this.underway.size === 0) this.flush();
    });
  }

  /** What was asked before is done first. */
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
      waiters.forEach((waiter, at) => {
        const answer = answers[at];
        if (answer && 'failure' in answer && answer.failure.name === 'Unavailable') this.refusals++;
        settle(waiter, answer);
      });
    }
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

/** A database thread that has nothing open yet. */
export interface StartingThread {
  /** OpenRefused when it cannot open. */
  open(events: EngineEvents): Promise<Engine>;
  /** Instead of opening: the thread ends. */
  drop(): void;
}

/** Starts a database thread: what it runs is loaded beside whatever else goes on. */
export const startThread = (options: ThreadOptions): StartingThread => {
  const worker = new Worker(new URL('../thread/thread.js', import.meta.url), {
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 8 },
  });
  // From the first: to a busy event loop, a thread's last word and its end come in one piece.
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const said: Promise<ThreadReply[]> = Promise.race([
    once(worker, 'message'),
    ended.then(() => []),
  ]);
  // Whoever opens it hears of what broke while nobody asked.
  said.catch(() => undefined);
  const post = (request: ThreadRequest): void => worker.postMessage(request);
  return {
    open: async (events) => {
      post({ kind: 'open' });
      const [reply] = await said;
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
  else reject(errorOf(answer));
};

const errorOf = (answer: Exclude<WorkResult, { value: unknown }> | undefined): Error => {
  if (!answer) return new Error('No answer from the database thread');
  const { name, message, at } = answer.failure;
  if (name === 'Unmet') return new Unmet(message, at ?? 0);
  if (name === 'Taken') return new Taken(message);
  if (name === 'Unavailable') return new Unavailable(message);
  return new Error(message);
};
