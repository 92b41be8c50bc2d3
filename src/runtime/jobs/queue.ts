import { type Clock, iso } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import type { ClaimedJob } from '../../store/procedures/claim.js';
import { Unavailable } from '../../store/protocol.js';
import type { Store } from '../../store/store.js';
import { createLanes } from './lanes.js';
import { releaseJob } from './statements.js';

export type Job = ClaimedJob;

export interface JobHandler {
  /**
   * Does the job and, in the transaction of its outcome, removes, releases or turns it. Resolves to
   * the job that goes on in the same slot, or null. `signal` is aborted when the daemon stops.
   */
  run(job: Job, signal: AbortSignal): Promise<Job | null>;
  /** The job failed unexpectedly as often as it may; it must end now. */
  abandon(job: Job, error: Error): Promise<void>;
}

export interface Queue {
  handle(kind: string, handler: JobHandler): void;
  /** Told after jobs were committed. */
  added(lane: string, count?: number): void;
  /** Told after a job was released to run later. */
  delayed(lane: string, runAt: string): void;
  /** Frees what an earlier boot had claimed and begins. */
  start(): Promise<void>;
  /** Claims no more, waits at most `waitMs` for what runs, then aborts it. */
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
}

const ATTEMPTS = 5;
const RETRY_MS = 5000;
/** How long what was aborted may take to notice. */
const ABORT_MS = 500;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The durable queue: jobs are rows, claims carry this boot's id, the rest waits its turn. */
export const createQueue = (deps: QueueDeps): Queue => {
  const { store, clock, log } = deps;
  const lanes = createLanes(deps.limitOf);
  const handlers = new Map<string, JobHandler>();
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const aborter = new AbortController();
  let isOpen = false;
  let isClaiming = false;

  const claim = async (): Promise<void> => {
    if (!isOpen || isClaiming) return;
    const shares = lanes.share(deps.concurrency - lanes.totals().running);
    if (shares.length === 0) return;
    isClaiming = true;
    try {
      const { jobs, dry } = await store.call('claimJobs', {
        boot: deps.boot,
        now: iso(clock.now()),
        lanes: shares,
      });
      for (const job of jobs) begin(job);
      for (const { lane, nextAt } of dry) rest(lane, nextAt);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      log.warn({ err: error }, 'jobs wait: the database cannot be written');
      later(RETRY_MS, () => undefined);
    } finally {
      isClaiming = false;
    }
    proceed();
  };

  const proceed = (): void => {
    claim().catch((error) => log.error({ err: error }, 'claiming jobs failed'));
  };

  const later = (ms: number, act: () => void): void => {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        act();
        proceed();
      },
      Math.min(Math.max(ms, 0), LONGEST_TIMER_MS),
    );
    timers.add(timer);
  };

  const rest = (lane: string, nextAt: string | null): void => {
    lanes.dry(lane, nextAt !== null);
    if (nextAt !== null) later(Date.parse(nextAt) - clock.now(), () => lanes.wake(lane));
  };

  const begin = (job: Job): void => {
    lanes.claimed(job.lane);
    const work = perform(job)
      .catch((error) => log.error({ err: error, job: job.ref }, 'a job could not be put back'))
      .finally(() => {
        lanes.ended(job.lane);
        running.delete(work);
        proceed();
      });
    running.add(work);
  };

  const perform = async (first: Job): Promise<void> => {
    for (let job: Job | null = first; job; ) {
      const current: Job = job;
      try {
        const handler = handlers.get(current.kind);
        if (!handler) throw new Error(`Nobody handles jobs of kind ${current.kind}`);
        job = await handler.run(current, aborter.signal);
      } catch (error) {
        if (aborter.signal.aborted) return;
        await recover(current, error instanceof Error ? error : new Error(String(error)));
        return;
      }
    }
  };

  const recover = async (job: Job, error: Error): Promise<void> => {
    log.error({ err: error, job: job.ref, attempts: job.attempts }, 'a job failed unexpectedly');
    const handler = handlers.get(job.kind);
    if (handler && job.attempts >= ATTEMPTS) return handler.abandon(job, error);
    const runAt = iso(clock.now() + RETRY_MS);
    await store.transact([releaseJob(store, job.id, runAt)]);
    delayed(job.lane, runAt);
  };

  const delayed = (lane: string, runAt: string): void => {
    lanes.add(lane, 1);
    later(Date.parse(runAt) - clock.now(), () => lanes.wake(lane));
  };

  return {
    handle: (kind, handler) => handlers.set(kind, handler),
    added: (lane, count = 1) => {
      lanes.add(lane, count);
      proceed();
    },
    delayed,
    start: async () => {
      await store.db
        .updateTable('jobs')
        .set({ boot: null })
        .where('boot', 'is not', null)
        .execute();
      const waiting = await store.db
        .selectFrom('jobs')
        .select((of) => ['lane', of.fn.countAll<number>().as('count')])
        .groupBy('lane')
        .execute();
      for (const { lane, count } of waiting) lanes.add(lane, count);
      isOpen = true;
      proceed();
    },
    stop: async (waitMs) => {
      isOpen = false;
      for (const timer of timers) clearTimeout(timer);
      await settled(running, waitMs);
      aborter.abort();
      await settled(running, ABORT_MS);
    },
    waiting: lanes.waiting,
    totals: lanes.totals,
  };
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
