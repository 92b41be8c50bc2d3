import { Operation } from '../kernel/contract/operation.js';
import type { Hub } from '../realtime/module.js';
import {
  type OperationProgress,
  type OperationRow,
  operationTable,
} from '../store/tables/operations.js';
import { viewer } from '../store/view.js';

/** The topic on which owners hear of their operations. */
export const PROGRESS = 'operation.progress';

/**
 * Ours: the least time between two publications of an operation that runs. With its first and its
 * last one there are at most four in a second.
 */
const BETWEEN_MS = 500;

const viewRow = viewer(operationTable, Operation, {
  resource: ({ resource_kind: kind, resource_id: id }: OperationRow) => ({ kind, id }),
});

/** An operation that runs, and what was published of it. */
interface RunningOperation {
  row: OperationRow;
  /** Runs until something may be published again. */
  timer: NodeJS.Timeout | null;
  isNew: boolean;
}

/** Creates the state of the operations that run, and tells their owners how far they are. */
export const createProgress = (hub: Pick<Hub, 'publish'>) => {
  const running = new Map<string, RunningOperation>();

  const publish = (row: OperationRow): void => hub.publish(row.user_id, PROGRESS, view(row));

  const view = (row: OperationRow): Operation => {
    const one = running.get(row.id);
    return viewRow(one && row.status === 'running' ? { ...row, progress: one.row.progress } : row);
  };

  const tell = (one: RunningOperation): void => {
    if (one.timer) {
      one.isNew = true;
      return;
    }
    one.isNew = false;
    one.timer = setTimeout(() => {
      one.timer = null;
      if (one.isNew) tell(one);
    }, BETWEEN_MS).unref();
    publish(one.row);
  };

  return {
    /** Returns an operation as the API shows it, with the progress that is not stored yet. */
    view,
    /** Publishes an operation as it was made, or as it has ended. */
    publish,
    /** Publishes that it runs. */
    began: (row: OperationRow): void => {
      const one: RunningOperation = { row, timer: null, isNew: false };
      running.set(row.id, one);
      tell(one);
    },
    /** Publishes how far it is, if it runs, soon. */
    moved: (id: string, progress: OperationProgress): void => {
      const one = running.get(id);
      if (!one) return;
      one.row = { ...one.row, progress: JSON.stringify(progress) };
      tell(one);
    },
    /** Returns how far it is, as it is stored: what a run has reported, else what the row holds. */
    of: (row: OperationRow): string | null => running.get(row.id)?.row.progress ?? row.progress,
    /** Forgets a run that has stopped. */
    stopped: (id: string): void => {
      clearTimeout(running.get(id)?.timer ?? undefined);
      running.delete(id);
    },
  };
};

export type Progress = ReturnType<typeof createProgress>;
