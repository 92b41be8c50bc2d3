import { iso, systemClock } from '../kernel/clock.js';
import { Unavailable } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import { type Alarms, createAlarms } from './alarms.js';
import type { BatchLimit } from './batchsize.js';
import type { Job, LaneCount, Queue, QueueDeps } from './handler.js';
import { createLanes } from './lanes.js';
import type { Share } from './procedures.js';
import { createRunner, RETRY_MS } from './runner.js';

/**
 * Interval of small batches while other work takes precedence, so that executions of other hooks
 * wait only milliseconds.
 */
const HELD_MS = 10;
const LANES_WHILE_HELD = 8;
const NO_BATCH: BatchLimit = { lanes: 0, jobs: 0 };

/**
 * Jobs are rows; a claimed job has the ID of this boot. Queues can share the table if they do not
 * share kinds or lanes.
 */
export const createQueue = (deps: QueueDeps): Queue => {
  const { store, clock, log } = deps;
  const lanes = createLanes(deps);
  const alarms = createAlarms(clock);
  let isOpen = false;
  let isClaiming = false;
  let isAsked = false;

  const claim = async (shares: Share[]): Promise<void> => {
    isClaiming = true;
    try {
      const { jobs, dry, mixed } = await store.call('claimJobs', {
        boot: deps.boot,
        now: iso(clock.now()),
        lanes: shares,
        targets: deps.targets?.(),
      });
      const isMixed = new Set(mixed);
      const batches = new Map<string, Job[]>();
      for (const { lane, isBatch } of shares) {
        lanes.batches.mixed(lane, isMixed.has(lane));
        if (isBatch) batches.set(lane, []);
      }
      for (const job of jobs) {
        const batch = batches.get(job.lane);
        if (batch) batch.push(job);
        else runner.begin(job);
      }
      for (const batch of batches.values()) runner.beginBatch(batch);
      for (const { lane, nextAt } of dry) timers.sleep(lane, nextAt);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      log.warn({ err: error }, 'jobs are waiting because the database is not writable');
      alarms.after('claim', RETRY_MS, proceed);
    } finally {
      isClaiming = false;
    }
    proceed();
  };

  /** Claims once per turn of the event loop. */
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
    const shares = lanes.share(deps.concurrency - lanes.running(), pace.limit());
    if (shares.length === 0) return;
    pace.began(shares);
    // A claim starts jobs, so a stop waits for it.
    runner.track(claim(shares).catch((error) => log.error({ err: error }, 'failed to claim jobs')));
  };

  const timers = laneTimers(lanes, alarms, proceed);
  const pace = batchPace(deps.precedence, { lanes, proceed });
  const runner = createRunner(deps, { lanes, alarms, timers, proceed });

  return {
    handle: (kind, handler) => runner.handlers.set(kind, handler),
    added: (lane, count = 1) => {
      lanes.add(lane, count);
      proceed();
    },
    delayed: timers.delayed,
    rest: timers.rest,
    start: async () => {
      const counts = await free(store, [...runner.handlers.keys()]);
      for (const { rows } of runner.handlers.values()) counts.push(...((await rows?.free()) ?? []));
      for (const { lane, count } of counts) lanes.add(lane, count);
      isOpen = true;
      proceed();
    },
    stop: async (waitMs) => {
      isOpen = false;
      alarms.stop();
      await runner.stop(waitMs);
    },
    waiting: lanes.waiting,
    isEmpty: lanes.isEmpty,
    totals: lanes.totals,
    crowded: lanes.batches.crowded,
  };
};

interface PaceContext {
  lanes: ReturnType<typeof createLanes>;
  proceed(): void;
}

const batchPace = (precedence: QueueDeps['precedence'], { lanes, proceed }: PaceContext) => {
  let heldSince = 0;
  let isHeld = false;

  const scheduleClaim = (): void => {
    if (isHeld) return;
    isHeld = true;
    const due = (): void => {
      isHeld = false;
      proceed();
    };
    systemClock.after(HELD_MS, due, { ref: false });
  };

  const limit = (): BatchLimit | undefined => {
    if (!precedence || !lanes.batches.hasReady()) return undefined;
    const jobs = precedence.roomInBatches();
    if (jobs === Number.POSITIVE_INFINITY) return undefined;
    scheduleClaim();
    const now = performance.now();
    if (jobs < 1 || now - heldSince < HELD_MS) return NO_BATCH;
    heldSince = now;
    return { lanes: LANES_WHILE_HELD, jobs };
  };

  const began = (shares: Share[]): void => {
    const limited = shares.filter(({ lane, isBatch }) => isBatch && !lanes.batches.isCrowded(lane));
    precedence?.began(limited.reduce((sum, { count }) => sum + count, 0));
  };

  return { limit, began };
};

const laneTimers = (lanes: ReturnType<typeof createLanes>, alarms: Alarms, proceed: () => void) => {
  const wakeAt = (lane: string, at: string): void =>
    alarms.at(`wake ${lane}`, Date.parse(at), () => {
      lanes.wake(lane);
      proceed();
    });
  return {
    sleep: (lane: string, nextAt: string | null): void => {
      lanes.dry(lane, nextAt !== null);
      if (nextAt !== null) wakeAt(lane, nextAt);
    },
    delayed: (lane: string, runAt: string): void => {
      lanes.add(lane, 1);
      wakeAt(lane, runAt);
    },
    rest: (lane: string, ms: number): void => {
      lanes.rest(lane);
      alarms.after(`rest ${lane}`, ms, () => {
        lanes.rested(lane);
        proceed();
      });
    },
  };
};

/** Releases claims of an earlier boot. Resolves to the jobs per lane. */
const free = async ({ db }: Store, kinds: string[]): Promise<LaneCount[]> => {
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
