import Boom from '@hapi/boom';
import { addJob, type Queue } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Operation } from '../kernel/contract/operation.js';
import { markTemporary } from '../kernel/failure.js';
import { mint } from '../kernel/ids.js';
import { orNotFound } from '../kernel/route.js';
import { type Hub, readOrWait } from '../realtime/module.js';
import { ExpectationFailed, type TransactionStep } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { OperationProgress, OperationRow } from '../store/tables/operations.js';
import { type OperationsStore, operationLane } from './queries.js';
import { endOfOperation, isUnfinished, OPERATION_JOB, type OperationEndDeps } from './runs.js';
import { PROGRESS } from './view.js';

export interface NewOperation<Input> {
  userId: string;
  /** `user` and the ID of the owner for everything that the owner has. */
  resource: { kind: string; id: string };
  title: string;
  input: Input;
  /** Total amount of work, as far as it is known. */
  progress: Pick<OperationProgress, 'total' | 'unit'>;
}

/** Further steps of the transaction that begins an operation. */
export type AdditionalSteps =
  | TransactionStep[]
  | ((operation: { id: string }) => TransactionStep[]);

export interface OperationsDeps extends OperationEndDeps {
  store: Store;
  queue: Pick<Queue, 'added'>;
  hub: Pick<Hub, 'listen' | 'whenOver'>;
  /** Stops the run of an operation that has ended. */
  stop(id: string): void;
}

/** Maximum number of unfinished operations per user and kind, unless the kind sets its own. */
const DEFAULT_MAX = 100;

/** Throws 409 if the user has too many unfinished operations. */
export const beginOperation = async (
  { store, clock, operations, queue, kinds, progress }: OperationsDeps,
  kind: string,
  { userId, resource, title, input, progress: { total, unit } }: NewOperation<unknown>,
  also: AdditionalSteps,
): Promise<Operation> => {
  const now = clock.now();
  const id = mint('operation', now);
  const { isHeavy = false, most = DEFAULT_MAX } = kinds.get(kind) ?? {};
  const lane = operationLane(userId, isHeavy);
  const row: OperationRow = {
    id,
    user_id: userId,
    kind,
    resource_kind: resource.kind,
    resource_id: resource.id,
    title,
    status: 'queued',
    input: JSON.stringify(input),
    checkpoint: null,
    progress: JSON.stringify({ done: 0, total, unit, note: null }),
    result: null,
    error: null,
    created_at: iso(now),
    started_at: null,
    finished_at: null,
  };
  const job = addJob({ kind: OPERATION_JOB, ref: id, lane, runAt: iso(now) });
  const more = typeof also === 'function' ? also(row) : also;
  try {
    await store.transact([operations.insert(row, most), job, ...more]);
  } catch (error) {
    if (!(error instanceof ExpectationFailed) || error.at > 0) throw error;
    throw tooMany(kind, most);
  }
  progress.publish(row);
  queue.added(lane);
  return progress.view(row);
};

/** Seconds after which some of many operations have ended. */
const RETRY_AFTER_S = 5;

const tooMany = (kind: string, most: number): Boom.Boom =>
  markTemporary(
    Boom.conflict(
      `You already have ${most} unfinished operations of the kind ${kind}, which is the maximum. Wait until an operation has ended, or cancel one of these operations`,
      { code: 'too_many_operations', retryAfter: RETRY_AFTER_S },
    ),
  );

/** Throws 409 if the operation has ended. Completed steps are kept. */
export const cancelOperation = async (
  deps: OperationsDeps,
  userId: string,
  id: string,
): Promise<Operation> => {
  const row = await findOperation(deps, userId, id);
  if (!isUnfinished(row)) throw hasEnded(row);
  const { row: ended, steps } = endOfOperation(deps, row, { status: 'cancelled' });
  const dropped = deps.operations.dropWaiting(row, deps.kinds.get(row.kind)?.isHeavy ?? false);
  if (!(await deps.store.tryTransact([...steps, dropped]))) {
    throw hasEnded(await findOperation(deps, userId, id));
  }
  deps.stop(id);
  deps.progress.stopped(id);
  deps.progress.publish(ended);
  return deps.progress.view(ended);
};

/** Returns an unfinished operation after its next change, or after `waitMs`. */
export const waitForOperation = async (
  deps: OperationsDeps,
  { userId, signal }: Pick<Caller, 'userId' | 'signal'>,
  { id, waitMs }: { id: string; waitMs: number },
): Promise<Operation> => {
  const find = async () => deps.progress.view(await findOperation(deps, userId, id));
  let isFirst = true;
  const changed = async (): Promise<Operation[]> => {
    const now = await find();
    if (isFirst && isUnfinished(now)) {
      isFirst = false;
      return [];
    }
    return [now];
  };
  const [found] = await readOrWait(
    deps.hub,
    {
      userId,
      channels: [PROGRESS],
      concerns: (data) =>
        typeof data === 'object' && data !== null && Reflect.get(data, 'id') === id,
      ms: waitMs,
      signal,
    },
    changed,
  );
  return found ?? find();
};

/** Waits until the operation has ended, `waitMs` are over, or the signal is aborted. */
export const waitForOperationEnd = async (
  deps: OperationsDeps,
  by: Pick<Caller, 'userId' | 'signal'>,
  { id, waitMs }: { id: string; waitMs: number },
): Promise<void> => {
  const signal = AbortSignal.any([by.signal, deps.clock.deadline(waitMs)]);
  const isOpen = async () => {
    const row = await deps.operations.get(by.userId, id);
    return row !== undefined && isUnfinished(row);
  };
  while ((await isOpen()) && !signal.aborted) {
    await waitForOperation(deps, { userId: by.userId, signal }, { id, waitMs });
  }
};

const findOperation = async (
  { operations }: { operations: OperationsStore },
  userId: string,
  id: string,
): Promise<OperationRow> =>
  orNotFound(await operations.get(userId, id), 'No operation with that id');

const hasEnded = ({ status }: OperationRow): Boom.Boom =>
  Boom.conflict(`The operation has already ended with status ${status}`);
