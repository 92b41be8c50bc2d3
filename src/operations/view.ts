import type { Cancel, Clock } from '../kernel/clock.js';
import { Operation } from '../kernel/contract/operation.js';
import type { Hub } from '../realtime/module.js';
import {
  type OperationProgress,
  type OperationRow,
  operationTable,
} from '../store/tables/operations.js';
import { viewer } from '../store/view.js';

export const PROGRESS = 'operation.progress';

/** Minimum time between two publications of a running operation. */
const BETWEEN_MS = 500;

const viewRow = viewer(operationTable, Operation, {
  resource: ({ resource_kind: kind, resource_id: id }: OperationRow) => ({ kind, id }),
});

interface RunningOperation {
  row: OperationRow;
  /** Set until the next publication is allowed. */
  cancel: Cancel | null;
  isNew: boolean;
}

export const createProgress = (clock: Clock, hub: Pick<Hub, 'publish'>) => {
  const running = new Map<string, RunningOperation>();

  const publish = (row: OperationRow): void => hub.publish(row.user_id, PROGRESS, view(row));

  const view = (row: OperationRow): Operation => {
    const one = running.get(row.id);
    return viewRow(one && row.status === 'running' ? { ...row, progress: one.row.progress } : row);
  };

  const publishSoon = (one: RunningOperation): void => {
    if (one.cancel) {
      one.isNew = true;
      return;
    }
    one.isNew = false;
    const due = (): void => {
      one.cancel = null;
      if (one.isNew) publishSoon(one);
    };
    one.cancel = clock.after(BETWEEN_MS, due, { ref: false });
    publish(one.row);
  };

  return {
    /** Includes progress that is not stored yet. */
    view,
    /** For an operation that was created or has ended. */
    publish,
    began: (row: OperationRow): void => {
      const one: RunningOperation = { row, cancel: null, isNew: false };
      running.set(row.id, one);
      publishSoon(one);
    },
    /** Does nothing if the operation does not run. */
    moved: (id: string, progress: OperationProgress): void => {
      const one = running.get(id);
      if (!one) return;
      one.row = { ...one.row, progress: JSON.stringify(progress) };
      publishSoon(one);
    },
    /** Returns the reported progress, else the stored one. */
    of: (row: OperationRow): string | null => running.get(row.id)?.row.progress ?? row.progress,
    stopped: (id: string): void => {
      running.get(id)?.cancel?.();
      running.delete(id);
    },
  };
};

export type Progress = ReturnType<typeof createProgress>;
