import type { Clock } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { LaneLimits } from './lanes.js';
import type { Claim, ClaimedJob } from './procedures.js';

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
  /**
   * Runs jobs of one lane whose effects are all in the database, and ends them in few transactions,
   * in their order. No claim is on record: a start after a crash runs them again.
   */
  runBatch?(jobs: Job[], signal: AbortSignal): Promise<BatchResult>;
  /** The rows of the jobs, if they are not in the table of jobs. */
  rows?: JobRows;
}

/** Jobs that are rows of another table. */
interface JobRows {
  /** Releases what an earlier boot had claimed. Resolves to the number of jobs in each lane. */
  free(): Promise<LaneCount[]>;
  /** Builds the step that releases a job, which is due again at `runAt`. */
  release(job: Job, runAt: string): TransactionStep;
}

/** The result of a batch. Jobs that are not mentioned have ended. */
export interface BatchResult {
  /** The jobs that failed unexpectedly, which are as before. */
  failures: FailedJob[];
  /** The number of jobs that were not run, because the batch took its time. They wait as before. */
  left: number;
}

export interface FailedJob {
  job: Job;
  error: Error;
}

export interface LaneCount {
  lane: string;
  count: number;
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
  /** True if no job of the lane waits or runs. */
  isEmpty(lane: string): boolean;
  totals(): { waiting: number; running: number };
  /** Returns the lanes in which so many jobs wait that they may soon take no others. */
  crowded(): string[];
}

export interface QueueDeps extends LaneLimits {
  store: Store;
  clock: Clock;
  log: Log;
  boot: string;
  concurrency: number;
  /** Returns the targets of the messages in this queue. */
  targets?(): Claim['targets'];
  /** Work that goes before batches; undefined if there is none. */
  precedence?: BatchPrecedence;
}

/** The rule by which other work goes before jobs that run in batches. */
export interface BatchPrecedence {
  /** Returns the number of jobs that may begin in batches now; infinite if nothing goes before. */
  roomInBatches(): number;
  /** Called with the number of jobs that began. */
  began(jobs: number): void;
}
