import { type Clock, iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { createWatch, type Watch } from '../kernel/watch.js';
import type { Store } from '../store/store.js';

export interface DueSource {
  name: string;
  /** ISO 8601. Null if there is none. */
  nextAt(): Promise<string | null>;
  /** Handles everything due now. The signal is aborted on shutdown. */
  tick(signal?: AbortSignal): Promise<void>;
}

export interface LateSource {
  name: string;
  dueAt: string;
  error: string | null;
}

export interface Scheduler {
  /** Exactly one process may do this: the daemon with the home's lock. */
  start(sources: DueSource[]): void;
  stop(): Promise<void>;
  late(byMs: number): LateSource[];
}

/**
 * Processes rows in order, several at once, which share an `fsync`. A failed row does not stop the
 * others; its error is thrown at the end.
 */
export const settleEach = async <T>(
  rows: T[],
  runDue: (row: T) => Promise<unknown>,
  atOnce = 1,
): Promise<void> => {
  const errors: unknown[] = [];
  const left = rows.values();
  const lane = async (): Promise<void> => {
    for (const row of left) await runDue(row).catch((error) => errors.push(error));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (errors.length > 0) throw errors[0];
};

interface AlarmDeps {
  store: Pick<Store, 'writes'>;
  clock: Clock;
  log: Log;
}

/** Interval of checks, by which a source may be late. */
const EVERY_MS = 1000;
/** Maximum pause after failures, in checks. */
const MAX_PAUSE = 60;

/**
 * A check reads nothing unless something was written or the earliest due time has come. It compares
 * clock times, so clock changes delay nothing further. Sources are independent. A failed source
 * pauses, doubling up to a minute.
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
      watch = createWatch({ clock: deps.clock, everyMs: EVERY_MS, look, failed });
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

  const runDue = async (signal: AbortSignal): Promise<void> => {
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
    look: (signal: AbortSignal): void => {
      const isIdle = writes === store.writes() && (next === null || clock.now() < next);
      if (running || isIdle || --pause > 0) return;
      running = runDue(signal)
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
