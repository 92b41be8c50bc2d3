import { type Clock, iso } from '../kernel/clock.js';
import { selectRows } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { timerTable } from '../store/tables/jobs.js';
import type { DueSource } from './scheduler.js';

interface TimerDeps {
  store: Store;
  clock: Clock;
}

interface TimerOptions {
  name: string;
  everyMs: number;
  /** Delay after a start, which has more important work. */
  settlingMs: number;
  work(signal?: AbortSignal): Promise<void>;
}

/**
 * The due time is a row, so that a restart neither loses nor repeats it. A due time beyond one
 * interval, after the clock was set back, is brought forward.
 */
export const createTimer = (
  { store: { db }, clock }: TimerDeps,
  { name, everyMs, settlingMs, work }: TimerOptions,
): DueSource => {
  const earliest = clock.now() + settlingMs;

  return {
    name,
    nextAt: async () => {
      const row = await selectRows(db, timerTable, { name }).executeTakeFirst();
      const dueAt = row ? Math.min(Date.parse(row.due_at), clock.now() + everyMs) : earliest;
      return iso(Math.max(dueAt, earliest));
    },
    tick: async (signal) => {
      await work(signal);
      if (signal?.aborted) return;
      const due_at = iso(clock.now() + everyMs);
      await db
        .insertInto('timers')
        .values({ name, due_at })
        .onConflict((taken) => taken.column('name').doUpdateSet({ due_at }))
        .execute();
    },
  };
};
