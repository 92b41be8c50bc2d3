import type { Clock } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { LaneLimits } from './lanes.js';
import type { Claim, ClaimedJob } from './procedures.js';

export type Job = ClaimedJob;

export interface JobHandler {
  /**
   * Removes, releases or replaces the job in the transaction of its outcome. Resolves to the job
   * that continues in the slot, or null. `signal` is aborted on shutdown. Call `free` early when
   * the outcome is handed to the store, so that it is on disk before the next job starts.
   */
  run(job: Job, signal: AbortSignal, free: () => void): Promise<Job | null>;
  /** Ends a job after its last failed attempt. */
  abandon(job: Job, error: Error): Promise<void>;
  /**
   * Runs jobs whose effects are all in the database, and ends them in order in few transactions.
   * Claims are not recorded: after a crash the jobs run again.
   */
  runBatch?(jobs: Job[], signal: AbortSignal): Promise<BatchResult>;
  rows?: JobRows;
}

interface JobRows {
  /** Releases claims of an earlier boot. Resolves to the jobs per lane. */
  free(): Promise<LaneCount[]>;
  release(job: Job, runAt: string): TransactionStep;
}

/** Jobs that are not mentioned have ended. */
export interface BatchResult {
  failures: FailedJob[];
  /** Jobs not started, which keep waiting. */
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
  added(lane: string, count?: number): void;
  delayed(lane: string, runAt: string): void;
  /** Claims no jobs of the lane for `ms` milliseconds. */
  rest(lane: string, ms: number): void;
  /** Releases claims of an earlier boot and starts claiming. */
  start(): Promise<void>;
  /** Waits at most `waitMs` for running jobs, then aborts them. */
  stop(waitMs: number): Promise<void>;
  waiting(lane: string): number;
  isEmpty(lane: string): boolean;
  totals(): { waiting: number; running: number };
  /** Lanes close to their limit of waiting jobs. */
  crowded(): string[];
}

export interface QueueDeps extends LaneLimits {
  store: Store;
  clock: Clock;
  log: Log;
  boot: string;
  concurrency: number;
  targets?(): Claim['targets'];
  precedence?: BatchPrecedence;
}

export interface BatchPrecedence {
  /** Infinite if nothing takes precedence. */
  roomInBatches(): number;
  began(jobs: number): void;
}
