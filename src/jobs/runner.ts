import { setMaxListeners } from 'node:events';
import { type Cancel, iso, systemClock } from '../kernel/clock.js';
import { isTemporaryError } from '../kernel/failure.js';
import { Unavailable } from '../store/engine/protocol.js';
import type { Alarms } from './alarms.js';
import type { Job, JobHandler, Queue, QueueDeps } from './handler.js';
import type { createLanes } from './lanes.js';
import { releaseJob } from './statements.js';

const ATTEMPTS = 5;
const RELEASE_FAILED = 'failed to release a job';
const ABORT_MS = 500;
export const RETRY_MS = 5000;
/** Pause of a lane after a temporary error. */
const REST_MS = 500;

interface RunnerState {
  lanes: ReturnType<typeof createLanes>;
  alarms: Alarms;
  timers: Pick<Queue, 'delayed' | 'rest'>;
  proceed(): void;
}

export const createRunner = (deps: QueueDeps, { lanes, alarms, timers, proceed }: RunnerState) => {
  const { log } = deps;
  const handlers = new Map<string, JobHandler>();
  const running = new Set<Promise<void>>();
  const aborter = createAborter();
  const recover = recovery(deps, { alarms, delayed: timers.delayed });

  const track = (work: Promise<void>): void => {
    const kept = work.finally(() => running.delete(kept));
    running.add(kept);
  };

  const begin = (job: Job): void => {
    lanes.claimed(job.lane);
    let isHolding = true;
    const free = (): void => {
      if (!isHolding) return;
      isHolding = false;
      lanes.ended(job.lane);
      proceed();
    };
    track(
      perform(job, free)
        .catch((err) => log.error({ err, job: job.ref }, RELEASE_FAILED))
        .finally(free),
    );
  };

  const beginBatch = (jobs: Job[]): void => {
    const [first] = jobs;
    if (!first) return;
    const { lane } = first;
    lanes.batches.claimed(lane, jobs.length);
    const ended = (left: number): void => {
      lanes.batches.ended(lane, left);
      proceed();
    };
    track(
      performBatch(first, jobs).then(ended, (err) => {
        log.error({ err, lane }, RELEASE_FAILED);
        ended(0);
      }),
    );
  };

  const performBatch = async ({ kind, lane }: Job, jobs: Job[]): Promise<number> => {
    const handler = handlers.get(kind);
    try {
      if (!handler?.runBatch) throw new Error(`No batch handler for jobs of kind ${kind}`);
      const { failures, left } = await handler.runBatch(jobs, aborter.signal);
      let waiting = left;
      for (const { job, error } of failures) {
        if (isTemporaryError(error)) waiting++;
        else await putBackFailed(job, error);
      }
      if (waiting > left) timers.rest(lane, REST_MS);
      return waiting;
    } catch (error) {
      if (aborter.signal.aborted) return 0;
      log.warn({ err: error }, 'a batch of jobs is waiting because the database is not writable');
      timers.rest(lane, RETRY_MS);
      return jobs.length;
    }
  };

  const perform = async (first: Job, free: () => void): Promise<void> => {
    for (let job: Job | null = first; job; ) {
      const current: Job = job;
      try {
        const handler = handlers.get(current.kind);
        if (!handler) throw new Error(`No handler for jobs of kind ${current.kind}`);
        job = await handler.run(current, aborter.signal, free);
      } catch (error) {
        if (aborter.signal.aborted) return;
        await putBackFailed(current, error);
        return;
      }
    }
  };

  const putBackFailed = async (job: Job, error: unknown): Promise<void> => {
    const cause = error instanceof Error ? error : new Error(String(error));
    if (!isTemporaryError(cause))
      log.error({ err: cause, job: job.ref }, 'a job failed unexpectedly');
    await recover(job, { handler: handlers.get(job.kind), error: cause });
  };

  return {
    handlers,
    track,
    begin,
    beginBatch,
    stop: async (waitMs: number): Promise<void> => {
      await settled(running, waitMs);
      aborter.abort();
      await settled(running, ABORT_MS);
    },
  };
};

interface JobError {
  handler: JobHandler | undefined;
  error: Error;
}

/**
 * Releases a failed job, or abandons it after too many attempts. A temporary error does not count
 * as an attempt. If the database is not writable, the job stays claimed until it is.
 */
const recovery = (
  { store, clock, log }: QueueDeps,
  { alarms, delayed }: { alarms: Alarms; delayed: Queue['delayed'] },
) => {
  const putBack = async (job: Job, { handler, error }: JobError): Promise<void> => {
    const isWaiting = isTemporaryError(error);
    if (handler && !isWaiting && job.attempts >= ATTEMPTS) return handler.abandon(job, error);
    const runAt = iso(clock.now() + (isWaiting ? REST_MS : RETRY_MS));
    const attempts = job.attempts - (isWaiting ? 1 : 0);
    const due = { ...job, attempts };
    const released = handler?.rows?.release(due, runAt) ?? releaseJob(store, due, runAt);
    await store.transact([released]);
    delayed(job.lane, runAt);
  };
  const recover = (job: Job, of: JobError): Promise<void> =>
    putBack(job, of).catch((failure) => {
      if (!(failure instanceof Unavailable)) throw failure;
      log.warn({ err: failure, job: job.ref }, 'a job could not be released yet; it is retried');
      alarms.after(`put back ${job.kind} ${job.ref}`, RETRY_MS, () => {
        recover(job, of).catch((err) => log.error({ err, job: job.ref }, RELEASE_FAILED));
      });
    });
  return recover;
};

/** Each running job may add a listener. */
const createAborter = (): AbortController => {
  const aborter = new AbortController();
  setMaxListeners(0, aborter.signal);
  return aborter;
};

const settled = async (running: Set<Promise<void>>, waitMs: number): Promise<void> => {
  let cancel: Cancel = () => undefined;
  const limit = new Promise<void>((resolve) => {
    cancel = systemClock.after(waitMs, resolve);
  });
  const all = (async () => {
    while (running.size > 0) await Promise.all(running);
  })();
  await Promise.race([all, limit]);
  cancel();
};
