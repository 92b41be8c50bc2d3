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
  timer: NodeJS.Timeout | null;
  isNew: boolean;
}

export const createProgress = (hub: Pick<Hub, 'publish'>) => {
  const running = new Map<string, RunningOperation>();

  const publish = (row: OperationRow): void => hub.publish(row.user_id, PROGRESS, view(row));

  const view = (row: OperationRow): Operation => {
    const one = running.get(row.id);
    return viewRow(one && row.status === 'running' ? { ...row, progress: one.row.progress } : row);
  };

  const publishSoon = (one: RunningOperation): void => {
    if (one.timer) {
      one.isNew = true;
      return;
    }
    one.isNew = false;
    one.timer = setTimeout(() => {
      one.timer = null;
      if (one.isNew) publishSoon(one);
    }, BETWEEN_MS).unref();
    publish(one.row);
  };

  return {
    /** Includes progress that is not stored yet. */
    view,
    /** For an operation that was created or has ended. */
    publish,
    began: (row: OperationRow): void => {
      const one: RunningOperation = { row, timer: null, isNew: false };
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
      clearTimeout(running.get(id)?.timer ?? undefined);
      running.delete(id);
    },
  };
};

export type Progress = ReturnType<typeof createProgress>;
