import type { Clock } from '../kernel/clock.js';
import { createWatch, type Watch } from '../kernel/watch.js';
import type { Store } from './store.js';

const EVERY_MS = 1000;

/**
 * Creates a poll loop over rows that have a due time. It reads nothing while none can be due, that
 * is, while nothing was written since it last read and the next due time has not come.
 */
export const createDueWatch = (
  { store, clock }: { store: Pick<Store, 'writes'>; clock: Clock },
  rows: {
    /** The time between two checks, by which a row may be late. */
    everyMs?: number;
    /** Settles all rows that are due now. */
    tick(): Promise<void>;
    /** Returns the earliest due time in ISO 8601, or null if no row has one. */
    nextAt(): Promise<string | null>;
    failed(error: unknown): void;
  },
): Watch => {
  let writes = -1;
  let next: number | null = null;

  const look = async (): Promise<void> => {
    const before = store.writes();
    if (writes === before && (next === null || clock.now() < next)) return;
    await rows.tick();
    const nextAt = await rows.nextAt();
    next = nextAt === null ? null : Date.parse(nextAt);
    writes = before;
  };

  return createWatch({ everyMs: rows.everyMs ?? EVERY_MS, look, failed: rows.failed });
};
