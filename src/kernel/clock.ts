import { setTimeout as wait } from 'node:timers/promises';

/** Tells the time and waits for it. Tests pass one that advances only when moved. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Resolves after `ms`, or rejects with an `AbortError` when the signal aborts. */
  wait(ms: number, signal?: AbortSignal, options?: TimerOptions): Promise<void>;
  /** Calls `due` once, after `ms`. */
  after(ms: number, due: () => void, options?: TimerOptions): Cancel;
  /** Calls `due` each `ms`. */
  every(ms: number, due: () => void, options?: TimerOptions): Cancel;
  /** Aborts with a `TimeoutError` after `ms`. Does not keep the process running. */
  deadline(ms: number): AbortSignal;
}

export interface TimerOptions {
  /** Whether the timer keeps the process running. Defaults to true. */
  ref?: boolean;
}

export type Cancel = () => void;

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms, signal, { ref = true } = {}) =>
    wait(Math.min(ms, MAX_MS), undefined, signal ? { signal, ref } : { ref }),
  after: (ms, due, { ref = true } = {}) => {
    const timer = setTimeout(due, Math.min(ms, MAX_MS));
    if (!ref) timer.unref();
    return () => clearTimeout(timer);
  },
  every: (ms, due, { ref = true } = {}) => {
    const timer = setInterval(due, Math.min(ms, MAX_MS));
    if (!ref) timer.unref();
    return () => clearInterval(timer);
  },
  deadline: (ms) => AbortSignal.timeout(Math.min(ms, MAX_MS)),
};

/** Node runs a timer of more immediately. */
const MAX_MS = 2 ** 31 - 1;

/** ISO 8601 in UTC with milliseconds, the only time format in the API and the database. */
export const iso = (ms: number): string => {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
};

export const toTheMinute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/** Many calls share one millisecond, and formatting takes half a microsecond on the hot path. */
let last = { ms: Number.NaN, text: '' };

export const isTimezone = (name: string): boolean => {
  if (zones.has(name)) return true;
  if (ABBREVIATIONS.has(name.toUpperCase())) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    return false;
  }
  if (zones.size < MAX_ZONES) zones.add(name);
  return true;
};

/**
 * Abbreviations of ICU that are not in the IANA database. Several zones share each, and ICU means
 * one of them: BST is Asia/Dhaka.
 */
const ABBREVIATIONS = new Set([
  ...['ACT', 'AET', 'AGT', 'ART', 'AST', 'BET', 'BST', 'CAT', 'CNT', 'CST', 'CTT', 'EAT', 'ECT'],
  ...['IET', 'IST', 'JST', 'MIT', 'NET', 'NST', 'PLT', 'PNT', 'PRT', 'PST', 'SST', 'VST'],
]);

const zones = new Set<string>();
const MAX_ZONES = 1000;
