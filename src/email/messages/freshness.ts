import type { Clock } from '../../kernel/clock.js';

/** Work that brings something up to date, and when it ended. */
interface Update {
  /** null: it is under way. */
  endedAt: number | null;
  work: Promise<boolean>;
}

/** Ours: what was brought up to date so many milliseconds ago is not asked for again. */
const FRESH_MS = 5000;
const MAX_KEPT = 1000;

/**
 * Brings something up to date at most once in a few seconds; those who ask meanwhile share that, and
 * what it resolves to.
 */
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
