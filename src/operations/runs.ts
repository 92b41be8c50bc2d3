import { type Job, type JobHandler, removeJob } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import {
  ExpectationFailed,
  type Statement,
  type TransactionStep,
} from '../store/engine/protocol.js';
import { retryWhileUnavailable } from '../store/retry.js';
import type { Store } from '../store/store.js';
import type { OperationRow } from '../store/tables/operations.js';
import type { OperationKind, OperationRun } from './kind.js';
import type { OperationsStore } from './queries.js';
import type { Progress } from './view.js';

export const OPERATION_JOB = 'operation';

/** How often a run that the daemon does not survive is repeated from the same checkpoint. */
const ATTEMPTS = 10;

/** A run ends early: its operation has ended, or the daemon stops. */
class RunStopped extends Error {
  override name = 'RunStopped';

  constructor(readonly isDraining: boolean) {
    super(isDraining ? 'The daemon is stopping' : 'The operation has ended');
  }
}

export interface OperationEndDeps {
  clock: Clock;
  operations: OperationsStore;
  kinds: ReadonlyMap<string, OperationKind>;
  progress: Progress;
}

interface OperationRunsDeps extends OperationEndDeps {
  store: Store;
}

interface EndedOperation {
  status: 'completed' | 'failed' | 'cancelled' | 'interrupted';
  result?: Record<string, unknown>;
  error?: string;
}

/** A message may quote what a file or a server contains. */
const MAX_ERROR_LENGTH = 4000;
const FORBIDDEN: EndedOperation = {
  status: 'cancelled',
  error: 'The owner is no longer allowed to run this operation',
};
const INTERRUPTED: EndedOperation = {
  status: 'interrupted',
  error: 'The daemon ended during the operation, which cannot be resumed',
};
const CRASHING: EndedOperation = {
  status: 'failed',
  error: `The daemon ended ${ATTEMPTS} times during the same step of the operation`,
};

export const endOfOperation = (
  { clock, operations, kinds, progress }: OperationEndDeps,
  row: OperationRow,
  { status, result, error }: EndedOperation,
): { row: OperationRow; steps: TransactionStep[] } => {
  const end = {
    status,
    progress: progress.of(row),
    result: result === undefined ? null : JSON.stringify(result),
    error: error?.slice(0, MAX_ERROR_LENGTH) ?? null,
    finished_at: iso(clock.now()),
    ...(kinds.get(row.kind)?.isInputDropped && { input: '{}' }),
  };
  const also = kinds.get(row.kind)?.ended?.(row, status) ?? [];
  return { row: { ...row, ...end }, steps: [operations.end(row.id, end), ...also] };
};

export const createOperationRuns = (deps: OperationRunsDeps) => {
  const { store, clock, operations, kinds, progress } = deps;
  const running = new Map<string, { stop: AbortController; kind: OperationKind }>();
  let isStopping = false;

  const drop = async (job: Job): Promise<void> => {
    await store.transact([removeJob(store, job.id)]);
  };

  const keepForNextStart = async (job: Job): Promise<void> => {
    await store.transact([forgetAttempts(job)]);
  };

  /** Also removes the job. Does nothing if the operation has ended meanwhile. */
  const end = async (job: Job, row: OperationRow, ended: EndedOperation): Promise<void> => {
    const { row: last, steps } = endOfOperation(deps, row, ended);
    const isWritten = await store.tryTransact([...steps, removeJob(store, job.id)]);
    progress.stopped(row.id);
    if (isWritten) progress.publish(last);
    else await drop(job);
  };

  /** Returns the end of an operation that must not run; null if it may run. */
  const ineligibleEnd = async (
    { attempts }: Job,
    { id, status }: OperationRow,
    { isResumable, isAdmins }: OperationKind,
  ): Promise<EndedOperation | null> => {
    if (status === 'running' && !isResumable) return INTERRUPTED;
    if (attempts > ATTEMPTS) return CRASHING;
    return (await operations.isAllowed(id, isAdmins)) ? null : FORBIDDEN;
  };

  /** Returns null if the operation has ended meanwhile. */
  const begin = async (row: OperationRow): Promise<OperationRow | null> => {
    if (row.status === 'running') return row;
    const started_at = iso(clock.now());
    const isBegun = await store.tryTransact([operations.begin(row.id, started_at)]);
    return isBegun ? { ...row, status: 'running', started_at } : null;
  };

  const perform = async (job: Job, signal: AbortSignal): Promise<void> => {
    const row = await operations.find(job.ref);
    if (!row || !isUnfinished(row)) return drop(job);
    const kind = kinds.get(row.kind);
    if (!kind)
      return end(job, row, { status: 'failed', error: `Unknown operation kind: ${row.kind}` });
    const refusal = await ineligibleEnd(job, row, kind);
    if (refusal) return end(job, row, refusal);
    const begun = await begin(row);
    if (!begun) return drop(job);
    if (isStopping && kind.isResumable) return keepForNextStart(job);
    const stop = new AbortController();
    running.set(row.id, { stop, kind });
    progress.began(begun);
    try {
      await carryOut(job, begun, kind, AbortSignal.any([signal, stop.signal]));
    } catch (error) {
      await leave(job, begun, { kind, error, isDraining: signal.aborted });
    } finally {
      running.delete(row.id);
      progress.stopped(row.id);
    }
  };

  /** While the database cannot be read, the run waits. */
  const carryOut = async (
    job: Job,
    row: OperationRow,
    kind: OperationKind,
    signal: AbortSignal,
  ): Promise<void> => {
    const run = async () => {
      const now = (await operations.find(row.id)) ?? row;
      signal.throwIfAborted();
      return kind.run(runOf(job, now, { kind, signal }));
    };
    const ended = await (kind.isResumable ? retryWhileUnavailable(clock, run, signal) : run());
    await retryWhileUnavailable(clock, () => end(job, row, ended), signal);
  };

  const runOf = (
    job: Job,
    { id, user_id: userId, input, checkpoint }: OperationRow,
    { kind, signal }: { kind: OperationKind; signal: AbortSignal },
  ): OperationRun<unknown, unknown> => ({
    id,
    userId,
    input: JSON.parse(input),
    checkpoint: checkpoint === null ? null : JSON.parse(checkpoint),
    signal,
    commit: async (steps, after) => {
      signal.throwIfAborted();
      const own = [operations.advance(id, after, kind.isAdmins), forgetAttempts(job)];
      await retryWhileUnavailable(clock, () => committed(own, steps), signal);
      progress.moved(id, after.progress);
    },
    refuseForbidden: async () => {
      if (!(await operations.isAllowed(id, kind.isAdmins))) throw new RunStopped(false);
    },
    progress: (now) => progress.moved(id, now),
  });

  const committed = async (own: Statement[], steps: TransactionStep[]): Promise<void> => {
    try {
      await store.transact([...own, ...steps]);
    } catch (error) {
      if (!(error instanceof ExpectationFailed)) throw error;
      if (error.at < own.length) throw new RunStopped(false);
      throw new ExpectationFailed(error.message, error.at - own.length);
    }
  };

  /** Handles a run that has thrown. While the daemon stops, the job stays for the next start. */
  const leave = async (
    job: Job,
    row: OperationRow,
    { kind, error, isDraining }: { kind: OperationKind; error: unknown; isDraining: boolean },
  ): Promise<void> => {
    const reason: unknown = running.get(row.id)?.stop.signal.reason ?? error;
    if (isDraining) return;
    if (reason instanceof RunStopped) {
      if (reason.isDraining) return keepForNextStart(job);
      const isAllowed = await operations.isAllowed(row.id, kind.isAdmins);
      return isAllowed ? drop(job) : end(job, row, FORBIDDEN);
    }
    if (kind.isResumable) throw error;
    await end(job, row, { status: 'failed', error: String(error) });
  };

  const handler: JobHandler = {
    run: async (job, signal) => {
      await perform(job, signal);
      return null;
    },
    abandon: async (job, { message }) => {
      const row = await operations.find(job.ref);
      // The first line only, since the others are the stack trace.
      if (row) await end(job, row, { status: 'failed', error: message.split('\n', 1)[0] ?? '' });
      else await drop(job);
    },
  };

  return {
    handler,
    stop: (id: string): void => running.get(id)?.stop.abort(new RunStopped(false)),
    /** Stops the runs that are resumed at the next start. */
    drain: (): void => {
      isStopping = true;
      for (const { stop, kind } of running.values()) {
        if (kind.isResumable) stop.abort(new RunStopped(true));
      }
    },
  };
};

export const isUnfinished = ({ status }: Pick<OperationRow, 'status'>): boolean =>
  status === 'queued' || status === 'running';

/** Resets the attempts of a job whose operation has advanced. */
const forgetAttempts = (job: Job): Statement => {
  // The queue counts in its own copy.
  job.attempts = 1;
  return { sql: 'UPDATE jobs SET attempts = 0 WHERE id = ?', parameters: [job.id] };
};
