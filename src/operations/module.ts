import type { Base } from '../base.js';
import { createQueue } from '../jobs/module.js';
import type { Operation } from '../kernel/contract/operation.js';
import type { Resource } from '../kernel/route.js';
import type { Hub } from '../realtime/module.js';
import type { OperationKind } from './kind.js';
import { operationsStore } from './queries.js';
import { operationsResource } from './routes.js';
import { createOperationRuns, OPERATION_JOB } from './runs.js';
import {
  type AlsoWritten,
  awaitEnd,
  beginOperation,
  cancelOperation,
  type NewOperation,
} from './service.js';
import { createProgress } from './view.js';

export type { OperationEnd, OperationKind, OperationRun } from './kind.js';
export { type CountedItems, lanesIn, previewOf, SHOWN_ITEMS } from './preview.js';
export { type WalkCheckpoint, walkLanes } from './walk.js';
export { openWorkers, WorkerFailed, type Workers, workersAtOnce } from './workers.js';

/** Begins operations of one kind. */
export interface OperationBeginner<Input> {
  /**
   * Stores an operation, in one transaction with further steps, and queues it. Throws 409 if the
   * user has too many that have not ended.
   */
  begin(of: NewOperation<Input>, also: AlsoWritten): Promise<Operation>;
  /** Ends one of a user at once; throws 409 if it has ended, 404 if there is none. */
  cancel(userId: string, id: string): Promise<Operation>;
}

/** The long pieces of work: durable, with checkpoints, cancellable, in a lane for each user. */
export interface Operations {
  /** Registers a kind, before the start, and returns how one of it begins. */
  register<Input, Checkpoint>(kind: OperationKind<Input, Checkpoint>): OperationBeginner<Input>;
  /** Waits until an operation of a user has ended, at most `waitMs`; one that is gone has ended. */
  ended(userId: string, id: string, wait: { waitMs: number; signal: AbortSignal }): Promise<void>;
  /** Goes on with what an earlier start has begun. */
  start(): Promise<void>;
  /** Stops the runs that can go on later at once, and waits at most `waitMs` for the others. */
  stop(waitMs: number): Promise<void>;
  resources(): { operations: Resource };
}

/**
 * Ours: the number of operations that run at once, in all and in one lane of a user; the others wait.
 * Those that wait for a worker process count as well.
 */
const CONCURRENCY = 256;
const LANE_LIMIT = 4;

/**
 * Opens the operations. They have a queue of their own, so that work of hours takes no place from
 * hooks and agents.
 */
export const openOperations = (base: Base, { hub }: { hub: Hub }): Operations => {
  const { store, clock, log, boot } = base;
  const kinds = new Map<string, OperationKind>();
  const operations = operationsStore(store);
  const progress = createProgress(hub);
  const shared = { store, clock, operations, kinds, progress };
  const runs = createOperationRuns(shared);
  const limits = { concurrency: CONCURRENCY, limitOf: () => LANE_LIMIT };
  const queue = createQueue({ store, clock, log, boot, ...limits });
  queue.handle(OPERATION_JOB, runs.handler);
  const service = { ...shared, queue, hub, stop: runs.stop };
  return {
    register: (kind) => {
      kinds.set(kind.kind, kind);
      return {
        begin: (of, also) => beginOperation(service, kind.kind, of, also),
        cancel: (userId, id) => cancelOperation(service, userId, id),
      };
    },
    ended: (userId, id, { waitMs, signal }) =>
      awaitEnd(service, { userId, signal }, { id, waitMs }),
    start: queue.start,
    stop: async (waitMs) => {
      const stopped = queue.stop(waitMs);
      runs.drain();
      await stopped;
    },
    resources: () => ({ operations: operationsResource(service) }),
  };
};
