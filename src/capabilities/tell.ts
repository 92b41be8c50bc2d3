import { type Clock, iso } from '../kernel/clock.js';
import type { OperationRun } from '../operations/module.js';
import type { Telling } from './fetch.js';

/** A run, as far as it tells how far it is. */
type ToldRun = Pick<OperationRun<unknown, never>, 'signal' | 'progress'>;

/** Ours: progress is told so often at most, in milliseconds. */
const PACE_MS = 300;

interface ToldBytes {
  done: number;
  total: number | null;
  note: string | null;
}

/** The bytes that each run has told last. */
const told = new WeakMap<ToldRun, ToldBytes>();

/** Returns what a run has told last. */
export const lastTold = (run: ToldRun): ToldBytes => {
  const last = told.get(run) ?? { done: 0, total: null, note: null };
  told.set(run, last);
  return last;
};

/** Returns the way in which a run tells how far it is. */
export const tellingOf = (run: ToldRun, clock: Clock): Telling => {
  const last = lastTold(run);
  let at = Number.NEGATIVE_INFINITY;
  return {
    signal: run.signal,
    bytes: (done, total, note) => {
      Object.assign(last, { done, total, note });
      if (performance.now() - at < PACE_MS && done !== total) return;
      at = performance.now();
      run.progress({ done, total, unit: 'bytes', note });
    },
    note: (note) => {
      last.note = note;
      run.progress({ ...last, unit: 'bytes' });
    },
    waits: ({ attempt, of, pauseMs, reason }) => {
      const retry = {
        attempt,
        of,
        nextAt: iso(clock.now() + pauseMs),
        reason: reason.slice(0, 500),
      };
      run.progress({ ...last, unit: 'bytes', retry });
    },
  };
};
