import { setTimeout as pause } from 'node:timers/promises';

export type Watch = ReturnType<typeof createWatch>;

/**
 * Creates a poll loop, by the real clock, that checks for work, and checks again `everyMs` after
 * each check has ended. An error of a check goes to `failed`, and the loop continues. The signal of
 * a check is aborted when the loop is being stopped.
 */
export const createWatch = ({
  everyMs,
  afterMs = 0,
  look,
  failed,
}: {
  everyMs: number;
  /** The delay before the first check. */
  afterMs?: number;
  look(signal: AbortSignal): Promise<void>;
  failed(error: unknown): void;
}) => {
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
    /** Starts the loop. To be called once. */
    start: (): void => {
      watching = watch();
    },
    /** Starts no further check. Resolves when the current check has ended. */
    stop: (): Promise<void> => {
      end.abort();
      return watching;
    },
  };
};
