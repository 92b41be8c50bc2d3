import { type Clock, iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { createWatch, type Watch } from '../kernel/watch.js';
import type { Store } from '../store/store.js';

/** Rows or work with due times, which the scheduler settles when they are due. */
export interface DueSource {
  /** A name for the log and for `doctor`, as in `hook schedules`. */
  name: string;
  /** Returns the earliest due time in ISO 8601, or null if there is none. */
  nextAt(): Promise<string | null>;
  /** Settles all that is due now. The signal is aborted when the daemon stops. */
  tick(signal?: AbortSignal): Promise<void>;
}

/** A source that is behind its time. */
export interface LateSource {
  name: string;
  /** The due time that has passed, ISO 8601. */
  dueAt: string;
  /** The error of the last attempt; null if none failed. */
  error: string | null;
}

/** The scheduler of the installation. It fires everything that has a due time. */
export interface Scheduler {
  /**
   * Starts firing. Exactly one process of an installation may do so: the daemon that holds the lock
   * of the home.
   */
  start(sources: DueSource[]): void;
  /** Fires nothing more. Resolves when the work under way has ended. */
  stop(): Promise<void>;
  /** Returns the sources that are behind by more than so many milliseconds. */
  late(byMs: number): LateSource[];
}

/**
 * Settles rows in their order, so many at once, which share the `fsync` of their transactions. One
 * that fails does not hold up those after it; its error is thrown when all were tried.
 */
export const settleEach = async <T>(
  rows: T[],
  settle: (row: T) => Promise<unknown>,
  atOnce = 1,
): Promise<void> => {
  const errors: unknown[] = [];
  const left = rows.values();
  const lane = async (): Promise<void> => {
    for (const row of left) await settle(row).catch((error) => errors.push(error));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (errors.length > 0) throw errors[0];
};

interface AlarmDeps {
  store: Pick<Store, 'writes'>;
  clock: Clock;
  log: Log;
  /** The time between two checks, by which a source may be late. */
  everyMs?: number;
}

const EVERY_MS = 1000;
/** The longest pause after failures, in checks. */
const MAX_PAUSE = 60;

/**
 * Creates the scheduler: one alarm for all sources. A check reads nothing while none can be due,
 * that is, while nothing was written since the last check and the earliest due time has not come. It
 * compares times of the clock, so a clock that is set forward or back delays nothing further. The
 * sources run independently: one that fails, or takes long, holds up no other. After a failure a
 * source pauses, twice as long each time, a minute at most.
 */
export const createScheduler = (deps: AlarmDeps): Scheduler => {
  let alarms: ReturnType<typeof createAlarm>[] = [];
  let watch: Watch | null = null;

  const look = async (signal: AbortSignal): Promise<void> => {
    for (const alarm of alarms) alarm.look(signal);
  };
  const failed = (err: unknown): void => deps.log.error({ err }, 'the scheduler failed');

  return {
    start: (sources) => {
      alarms = sources.map((source) => createAlarm(deps, source));
      watch = createWatch({ everyMs: deps.everyMs ?? EVERY_MS, look, failed });
      watch.start();
    },
    stop: async () => {
      await watch?.stop();
      await Promise.all(alarms.map((alarm) => alarm.ended()));
    },
    late: (byMs) => {
      const before = deps.clock.now() - byMs;
      return alarms.flatMap((alarm) => alarm.lateSince(before));
    },
  };
};

/** Creates the state of one source: its next due time, its work under way and its failures. */
const createAlarm = ({ store, clock, log }: AlarmDeps, source: DueSource) => {
  let writes = -1;
  let next: number | null = null;
  let running: Promise<void> | null = null;
  let failure: string | null = null;
  let failures = 0;
  let pause = 0;

  const readNext = async (): Promise<void> => {
    const before = store.writes();
    const nextAt = await source.nextAt();
    next = nextAt === null ? null : Date.parse(nextAt);
    writes = before;
  };

  const settle = async (signal: AbortSignal): Promise<void> => {
    if (writes !== store.writes()) await readNext();
    if (next === null || clock.now() < next) return;
    await source.tick(signal);
    await readNext();
  };

  const failed = (err: unknown): void => {
    failures++;
    pause = Math.min(2 ** (failures - 1), MAX_PAUSE);
    failure = err instanceof Error ? err.message : String(err);
    writes = -1;
    log.error({ err, source: source.name, failures }, 'scheduled work failed');
  };

  const succeeded = (): void => {
    failures = 0;
    failure = null;
  };

  return {
    /** Begins a check, unless one is under way, nothing can be due, or the source pauses. */
    look: (signal: AbortSignal): void => {
      const isIdle = writes === store.writes() && (next === null || clock.now() < next);
      if (running || isIdle || --pause > 0) return;
      running = settle(signal)
        .then(succeeded, failed)
        .finally(() => {
          running = null;
        });
    },
    ended: async (): Promise<void> => {
      await running;
    },
    lateSince: (before: number): LateSource[] =>
      next === null || next > before
        ? []
        : [{ name: source.name, dueAt: iso(next), error: failure }],
  };
};
