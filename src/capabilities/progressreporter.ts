import { type Clock, iso } from '../kernel/clock.js';
import type { OperationRun } from '../operations/module.js';
import type { ProgressReporter } from './fetch.js';

type ReportingRun = Pick<OperationRun<unknown, never>, 'signal' | 'progress'>;

/** Minimum interval between progress reports. */
const PACE_MS = 300;

interface ReportedBytes {
  done: number;
  total: number | null;
  note: string | null;
}

const reported = new WeakMap<ReportingRun, ReportedBytes>();

export const lastReported = (run: ReportingRun): ReportedBytes => {
  const last = reported.get(run) ?? { done: 0, total: null, note: null };
  reported.set(run, last);
  return last;
};

export const createProgressReporter = (run: ReportingRun, clock: Clock): ProgressReporter => {
  const last = lastReported(run);
  let at = Number.NEGATIVE_INFINITY;
  return {
    clock,
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
    onRetry: ({ attempt, of, pauseMs, reason }) => {
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
