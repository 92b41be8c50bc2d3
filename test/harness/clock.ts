import type { Cancel, Clock } from '../../src/kernel/clock.js';

/** A clock that advances only when moved. */
export interface FrozenClock extends Clock {
  /** Time passes: calls what is due, in order, each at its own time. */
  forward(ms: number): void;
  /** Somebody sets the clock: `now()` changes, and no timer comes closer. */
  shift(ms: number): void;
  /** Milliseconds until each timer is due, earliest first. */
  pending(): number[];
  /**
   * Resolves as soon as a timer is due in exactly `ms`, now or later. Await it before `forward`, so
   * that the code under test has reached its wait.
   */
  waiting(ms: number): Promise<void>;
  /** Resolves when the next timer of `ms` starts. An app has others, which may be due in `ms` already. */
  starting(ms: number): Promise<void>;
}

interface Timer {
  /** On the scale of `elapsed`. */
  at: number;
  due: () => void;
}

export const frozenClock = (start = Date.parse('2026-03-01T12:00:00.000Z')): FrozenClock => {
  let elapsed = 0;
  let offset = start;
  const timers = new Set<Timer>();
  const watchers = new Set<{ ms: number; found: () => void }>();

  const after = (ms: number, due: () => void): Cancel => {
    const timer = { at: elapsed + Math.max(ms, 0), due };
    timers.add(timer);
    if (ms <= 0) queueMicrotask(() => timers.delete(timer) && due());
    for (const watcher of watchers) {
      if (watcher.ms !== ms) continue;
      watchers.delete(watcher);
      watcher.found();
    }
    return () => timers.delete(timer);
  };

  const every = (ms: number, due: () => void): Cancel => {
    let cancel: Cancel;
    const arm = () => {
      cancel = after(Math.max(ms, 1), () => {
        arm();
        due();
      });
    };
    arm();
    return () => cancel();
  };

  const wait = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const abort = () => {
        cancel();
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      const cancel = after(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });

  const deadline = (ms: number): AbortSignal => {
    const end = new AbortController();
    after(ms, () => end.abort(new DOMException('The operation timed out', 'TimeoutError')));
    return end.signal;
  };

  const starting = (ms: number): Promise<void> =>
    new Promise((found) => watchers.add({ ms, found }));

  const next = (until: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];

  return {
    now: () => offset + elapsed,
    ...{ after, every, wait, deadline },
    forward: (ms) => {
      const until = elapsed + ms;
      for (let timer = next(until); timer; timer = next(until)) {
        timers.delete(timer);
        elapsed = Math.max(elapsed, timer.at);
        timer.due();
      }
      elapsed = until;
    },
    shift: (ms) => {
      offset += ms;
    },
    pending: () => [...timers].map(({ at }) => at - elapsed).sort((one, other) => one - other),
    waiting: async (ms) => {
      if (![...timers].some(({ at }) => at - elapsed === ms)) await starting(ms);
    },
    starting,
  };
};
