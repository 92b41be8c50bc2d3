import { setMaxListeners } from 'node:events';
import { type Clock, iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { Unavailable } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import { type Alarms, createAlarms } from './alarms.js';
import { createLanes, type Share, type SlowLanes } from './lanes.js';
import type { Claim, ClaimedJob } from './procedures.js';
import { releaseJob } from './statements.js';

export type Job = ClaimedJob;

export interface JobHandler {
  /**
   * Runs the job and, in the transaction of its outcome, removes it, releases it, or turns it into
   * another job. Resolves to the job that continues in the same slot, or null. `signal` is aborted
   * when the daemon stops. `free` gives the slot back early. The handler calls it when the outcome
   * was handed to the store and nothing else is left, so that the outcome is on disk before the
   * next job in the slot begins.
   */
  run(job: Job, signal: AbortSignal, free: () => void): Promise<Job | null>;
  /** Ends a job that failed unexpectedly as often as it may. */
  abandon(job: Job, error: Error): Promise<void>;
}

export interface Queue {
  handle(kind: string, handler: JobHandler): void;
  /** Called after jobs were committed. */
  added(lane: string, count?: number): void;
  /** Called after a job was released to run later. */
  delayed(lane: string, runAt: string): void;
  /** Claims no jobs of the lane for `ms` milliseconds, whatever is added to it. */
  rest(lane: string, ms: number): void;
  /**
   * Releases the jobs of the handled kinds that an earlier boot had claimed, and starts claiming.
   */
  start(): Promise<void>;
  /** Stops claiming, waits at most `waitMs` for the running jobs, then aborts them. */
  stop(waitMs: number): Promise<void>;
  waiting(lane: string): number;
  totals(): { waiting: number; running: number };
}

export interface QueueDeps {
  store: Store;
  clock: Clock;
  log: Log;
  boot: string;
  concurrency: number;
  limitOf(lane: string): number;
  slowLanes?: SlowLanes;
  /** Returns the targets of the messages in this queue. */
  targets?(): Claim['targets'];
}

const ATTEMPTS = 5;
const RETRY_MS = 5000;
const UNRETURNED = 'a job could not be put back';
/** The time that aborted jobs get to stop. */
const ABORT_MS = 500;

/**
 * Creates the durable queue. Jobs are rows, and a claimed job carries the ID of this boot. Several
 * queues can share the table if no two handle the same kind or have jobs in the same lane.
 */
export const createQueue = (deps: QueueDeps): Queue => {
  const { store, clock, log } = deps;
  const lanes = createLanes(deps.limitOf, deps.slowLanes);
  const handlers = new Map<string, JobHandler>();
  const alarms = createAlarms(clock);
  const running = new Set<Promise<void>>();
  const aborter = createAborter();
  let isOpen = false;
  let isClaiming = false;
  let isAsked = false;

  const claim = async (shares: Share[]): Promise<void> => {
    isClaiming = true;
    try {
      const { jobs, dry } = await store.call('claimJobs', {
        boot: deps.boot,
        now: iso(clock.now()),
        lanes: shares,
        targets: deps.targets?.(),
      });
      for (const job of jobs) begin(job);
      for (const { lane, nextAt } of dry) sleep(lane, nextAt);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      log.warn({ err: error }, 'jobs wait: the database cannot be written');
      alarms.after('claim', RETRY_MS, proceed);
    } finally {
      isClaiming = false;
    }
    proceed();
  };

  /** Claims once for all jobs that end in the same turn of the event loop, not once for each. */
  const proceed = (): void => {
    if (!isOpen || isClaiming || isAsked) return;
    isAsked = true;
    process.nextTick(() => {
      isAsked = false;
      claimShares();
    });
  };

  const claimShares = (): void => {
    if (!isOpen || isClaiming) return;
    const shares = lanes.share(deps.concurrency - lanes.totals().running);
    if (shares.length === 0) return;
    // A claim under way starts jobs, so a stop waits for it as for the running jobs.
    const work = claim(shares)
      .catch((error) => log.error({ err: error }, 'claiming jobs failed'))
      .finally(() => running.delete(work));
    running.add(work);
  };

  const sleep = (lane: string, nextAt: string | null): void => {
    lanes.dry(lane, nextAt !== null);
    if (nextAt !== null) wakeAt(lane, nextAt);
  };

  const wakeAt = (lane: string, at: string): void =>
    alarms.at(`wake ${lane}`, Date.parse(at), () => {
      lanes.wake(lane);
      proceed();
    });

  const begin = (job: Job): void => {
    lanes.claimed(job.lane);
    let isHolding = true;
    const free = (): void => {
      if (!isHolding) return;
      isHolding = false;
      lanes.ended(job.lane);
      proceed();
    };
    const work = perform(job, free)
      .catch((err) => log.error({ err, job: job.ref }, UNRETURNED))
      .finally(() => {
        running.delete(work);
        free();
      });
    running.add(work);
  };

  const perform = async (first: Job, free: () => void): Promise<void> => {
    for (let job: Job | null = first; job; ) {
      const current: Job = job;
      try {
        const handler = handlers.get(current.kind);
        if (!handler) throw new Error(`Nobody handles jobs of kind ${current.kind}`);
        job = await handler.run(current, aborter.signal, free);
      } catch (error) {
        if (aborter.signal.aborted) return;
        const cause = error instanceof Error ? error : new Error(String(error));
        log.error({ err: cause, job: current.ref }, 'a job failed unexpectedly');
        await recover(current, { handler: handlers.get(current.kind), error: cause });
        return;
      }
    }
  };

  const delayed = (lane: string, runAt: string): void => {
    lanes.add(lane, 1);
    wakeAt(lane, runAt);
  };
  const recover = recovery(deps, { alarms, delayed });

  return {
    handle: (kind, handler) => handlers.set(kind, handler),
    added: (lane, count = 1) => {
      lanes.add(lane, count);
      proceed();
    },
    delayed,
    rest: (lane, ms) => {
      lanes.rest(lane);
      alarms.after(`rest ${lane}`, ms, () => {
        lanes.rested(lane);
        proceed();
      });
    },
    start: async () => {
      for (const { lane, count } of await free(store, [...handlers.keys()])) {
        lanes.add(lane, count);
      }
      isOpen = true;
      proceed();
    },
    stop: async (waitMs) => {
      isOpen = false;
      alarms.stop();
      await settled(running, waitMs);
      aborter.abort();
      await settled(running, ABORT_MS);
    },
    waiting: lanes.waiting,
    totals: lanes.totals,
  };
};

interface JobError {
  handler: JobHandler | undefined;
  error: Error;
}

/**
 * Returns a function that releases a job that failed unexpectedly, or abandons it after too many
 * attempts. If the database cannot be written now, the job stays claimed until it can.
 */
const recovery = (
  { store, clock, log }: QueueDeps,
  { alarms, delayed }: { alarms: Alarms; delayed: Queue['delayed'] },
) => {
  const putBack = async (job: Job, { handler, error }: JobError): Promise<void> => {
    if (handler && job.attempts >= ATTEMPTS) return handler.abandon(job, error);
    const runAt = iso(clock.now() + RETRY_MS);
    await store.transact([releaseJob(store, job.id, runAt)]);
    delayed(job.lane, runAt);
  };
  const recover = (job: Job, of: JobError): Promise<void> =>
    putBack(job, of).catch((failure) => {
      if (!(failure instanceof Unavailable)) throw failure;
      log.warn({ err: failure, job: job.ref }, 'a job waits to be put back');
      alarms.after(`put back ${job.id}`, RETRY_MS, () => {
        recover(job, of).catch((err) => log.error({ err, job: job.ref }, UNRETURNED));
      });
    });
  return recover;
};

/**
 * Releases the jobs of these kinds that an earlier boot had claimed. Resolves to the number of jobs
 * in each lane.
 */
const free = async ({ db }: Store, kinds: string[]): Promise<{ lane: string; count: number }[]> => {
  await db
    .updateTable('jobs')
    .set({ boot: null })
    .where('boot', 'is not', null)
    .where('kind', 'in', kinds)
    .execute();
  return db
    .selectFrom('jobs')
    .select((of) => ['lane', of.fn.countAll<number>().as('count')])
    .where('kind', 'in', kinds)
    .groupBy('lane')
    .execute();
};

/** Creates an AbortController with no limit of listeners: each running job may have one. */
const createAborter = (): AbortController => {
  const aborter = new AbortController();
  setMaxListeners(0, aborter.signal);
  return aborter;
};

const settled = async (running: Set<Promise<void>>, waitMs: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
  });
  const all = (async () => {
    while (running.size > 0) await Promise.all(running);
  })();
  await Promise.race([all, limit]);
  clearTimeout(timer);
};
