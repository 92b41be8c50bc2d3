import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { threadMs } from '../../src/kernel/threadtime.js';

const EVERY_MS = 5;

interface Turn {
  /** On the scale of performance.now(). */
  from: number;
  to: number;
  /** Milliseconds that the thread of the event loop computed meanwhile. */
  usedMs: number;
}

/** The longest times that the event loop stood still, in milliseconds. */
export interface Longest {
  /** By what it was asked to do. */
  turnMs: number;
  /** By garbage collection, which is in no turn. */
  gcMs: number;
}

/**
 * Watches how long the event loop stands still. Counts what its thread computed meanwhile and not
 * what it waited for a processor, so that a busy machine does not fail a test.
 */
export const watchLoop = (): { stop(): Longest } => {
  const turns: Turn[] = [];
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  let from = performance.now();
  let used = computedMs();
  const look = (): void => {
    const [to, now] = [performance.now(), computedMs()];
    turns.push({ from, to, usedMs: now - used });
    [from, used] = [to, now];
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    stop: () => {
      look();
      clearInterval(timer);
      collections.push(...observer.takeRecords());
      observer.disconnect();
      return {
        turnMs: most(turns.map((turn) => lengthOf(turn, collections))),
        gcMs: most(collections.map(({ duration }) => duration)),
      };
    },
  };
};

const lengthOf = ({ from, to, usedMs }: Turn, collections: PerformanceEntry[]): number => {
  const within = collections.filter(({ startTime }) => startTime >= from && startTime < to);
  const gcMs = within.reduce((sum, { duration }) => sum + duration, 0);
  return Math.min(to - from - EVERY_MS, usedMs) - gcMs;
};

/** The time of the fixed work of `slowness` on the machine where the limits were measured. */
const REFERENCE_MS = 10;
const MANY_KEYS = `{${Array.from({ length: 19_000 }, (_, at) => `"k${at}":1`).join(',')}}`;

/**
 * A limit that was measured on a quiet machine, for the machine as it is now: longer by as much as
 * a fixed piece of work takes longer.
 */
export const limitMs = (quietMs: number): number => quietMs * slowness();

/** At least 1. Parses JSON, which like our own code waits for memory more than it computes. */
const slowness = (): number => {
  const tries = [1, 2, 3].map(() => {
    const before = computedMs();
    JSON.parse(MANY_KEYS);
    return computedMs() - before;
  });
  return Math.max(1, Math.min(...tries) / REFERENCE_MS);
};

/**
 * Milliseconds that this thread has computed where the system tells (Linux), else the process: what
 * it waited for a processor is not in them.
 */
export const computedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return threadMs() ?? (user + system) / 1000;
};

const most = (of: number[]): number => of.reduce((a, b) => Math.max(a, b), 0);
