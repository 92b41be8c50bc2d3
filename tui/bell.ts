import type { DeskStore, State } from './state/state.js';

export interface BellDeps {
  store: DeskStore;
  now(): number;
  ring(): void;
}

/** Minimum time between two rings, in milliseconds, so that simultaneous calls ring once. */
const QUIET_MS = 5000;

/**
 * Rings when a new call starts to wait for a decision. Calls that already wait when the desk opens
 * do not ring. Returns a function that stops it.
 */
export const ringOnApproval = ({ store, now, ring }: BellDeps): (() => void) => {
  const { approvals: first } = store.get().lists;
  let known = first.loadedAt === null ? null : new Set(pendingIds(first));
  let rangAt = Number.NEGATIVE_INFINITY;
  return store.subscribe(
    ({ lists }) => lists.approvals,
    (approvals) => {
      if (approvals.loadedAt === null) return;
      const waiting = pendingIds(approvals);
      const isNew = known !== null && waiting.some((id) => !known?.has(id));
      known = new Set([...(known ?? []), ...waiting]);
      if (!isNew || now() - rangAt < QUIET_MS) return;
      rangAt = now();
      ring();
    },
  );
};

const pendingIds = ({ order, byId }: State['lists']['approvals']): string[] =>
  order.filter((id) => byId[id]?.status === 'pending');
