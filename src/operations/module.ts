import Boom from '@hapi/boom';
import type { Base } from '../base.js';
import { createQueue } from '../jobs/module.js';
import type { Operation } from '../kernel/contract/operation.js';
import type { Resource } from '../kernel/route.js';
import type { Hub } from '../realtime/module.js';
import { selectRows } from '../store/rows.js';
import { operationTable } from '../store/tables/operations.js';
import type { OperationKind } from './kind.js';
import { operationsStore } from './queries.js';
import { operationsResource } from './routes.js';
import { createOperationRuns, isUnfinished, OPERATION_JOB } from './runs.js';
import {
  type AdditionalSteps,
  beginOperation,
  cancelOperation,
  type NewOperation,
  waitForOperationEnd,
} from './service.js';
import { createProgress } from './view.js';

export type { OperationEnd, OperationKind, OperationRun } from './kind.js';
export { buildOperationPreview, type CountedItems, lanesIn, SHOWN_ITEMS } from './preview.js';
export { type WalkCheckpoint, walkLanes } from './walk.js';
export { openWorkers, WorkerFailed, WorkerSilent, type Workers, workersAtOnce } from './workers.js';

export interface OperationBeginner<Input> {
  /** Stores and queues an operation. Throws 409 if the user has too many unfinished ones. */
  begin(of: NewOperation<Input>, also: AdditionalSteps): Promise<Operation>;
  /** Throws 409 if the operation has ended, and 404 if there is none. */
  cancel(userId: string, id: string): Promise<Operation>;
}

export interface Operations {
  /** Registers a kind. Called before the start. */
  register<Input, Checkpoint>(kind: OperationKind<Input, Checkpoint>): OperationBeginner<Input>;
  /** Waits at most `waitMs` until an operation has ended or is deleted. */
  ended(userId: string, id: string, wait: { waitMs: number; signal: AbortSignal }): Promise<void>;
  /** Continues operations of an earlier start. */
  start(): Promise<void>;
  /** Stops resumable runs at once, and waits at most `waitMs` for the others. */
  stop(waitMs: number): Promise<void>;
  cancelAll(userId: string): Promise<void>;
  resources(): { operations: Resource };
}

/** Operations that run at once, in total and per lane of a user, including those of worker processes. */
const CONCURRENCY = 256;
const LANE_LIMIT = 4;

/** Operations have their own queue, so that hours of work do not delay hooks and agents. */
export const openOperations = (base: Base, { hub }: { hub: Hub }): Operations => {
  const { store, clock, log, boot } = base;
  const kinds = new Map<string, OperationKind>();
  const operations = operationsStore(store);
  const progress = createProgress(clock, hub);
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
      waitForOperationEnd(service, { userId, signal }, { id, waitMs }),
    cancelAll: async (userId) => {
      const rows = selectRows(store.db, operationTable, { user_id: userId });
      for (const row of (await rows.execute()).filter(isUnfinished)) {
        await cancelOperation(service, userId, row.id).catch((error) => {
          // It has just ended.
          if (!Boom.isBoom(error, 409)) throw error;
        });
      }
    },
    start: queue.start,
    stop: async (waitMs) => {
      const stopped = queue.stop(waitMs);
      runs.drain();
      await stopped;
    },
    resources: () => ({ operations: operationsResource(service) }),
  };
};
