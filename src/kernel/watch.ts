import { setTimeout as pause } from 'node:timers/promises';

/** A poll loop: looks again and again whether there is something to do, by the real clock. */
export interface Watch {
  /** Once. */
  start(): void;
  /** No look begins any more; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/**
 * Looks, and looks again so many milliseconds after each look has ended. What a look throws goes to
 * `failed`, and the next one comes all the same; its signal says that the watch is being stopped.
 */
export const createWatch = ({
  everyMs,
  afterMs = 0,
  look,
  failed,
}: {
  everyMs: number;
  /** Before the first look. */
  afterMs?: number;
  look(signal: AbortSignal): Promise<void>;
  failed(error: unknown): void;
}): Watch => {
  const end = new AbortController();
  const { signal } = end;
  let watching = Promise.resolve();

  const wait = (ms: number): Promise<void> => pause(ms, undefined, { signal }).catch(() => {});
  const watch = async (): Promise<void> => {
    await wait(afterMs);
    while (!signal.aborted) {
      await look(signal).catch(failed);
      await wait(everyMs);
    }
  };

  return {
    start: () => {
      watching = watch();
    },
    stop: () => {
      end.abort();
      return watching;
    },
  };
};
