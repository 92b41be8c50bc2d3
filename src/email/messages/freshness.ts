import type { Clock } from '../../kernel/clock.js';

interface Update {
  /** null: in progress. */
  endedAt: number | null;
  work: Promise<boolean>;
}

/** Results younger than this are reused. */
const FRESH_MS = 5000;
const MAX_KEPT = 1000;

/** Concurrent callers share one update. */
export type KeepFresh = (name: string, update: () => Promise<boolean>) => Promise<boolean>;

export const createFreshness = (clock: Clock): KeepFresh => {
  const updates = new Map<string, Update>();

  const isFresh = ({ endedAt }: Update): boolean =>
    endedAt === null || clock.now() < endedAt + FRESH_MS;

  const forgetStale = (): void => {
    if (updates.size < MAX_KEPT) return;
    for (const [name, update] of updates) if (!isFresh(update)) updates.delete(name);
  };

  return (name, update) => {
    const last = updates.get(name);
    if (last && isFresh(last)) return last.work;
    forgetStale();
    const next: Update = { endedAt: null, work: update() };
    updates.set(name, next);
    const ended = (): void => {
      next.endedAt = clock.now();
    };
    next.work.then(ended, ended);
    return next.work;
  };
};
