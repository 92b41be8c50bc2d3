import type { Clock } from './clock.js';

export type Watch = ReturnType<typeof createWatch>;

/**
 * Polls `everyMs` after each check. Errors go to `failed`, and polling continues. The signal is
 * aborted on stop.
 */
export const createWatch = ({
  clock,
  everyMs,
  afterMs = 0,
  look,
  failed,
}: {
  clock: Clock;
  everyMs: number;
  afterMs?: number;
  look(signal: AbortSignal): Promise<void>;
  failed(error: unknown): void;
}) => {
  const end = new AbortController();
  const { signal } = end;
  let watching = Promise.resolve();

  const wait = (ms: number): Promise<void> => clock.wait(ms, signal).catch(() => {});
  const watch = async (): Promise<void> => {
    await wait(afterMs);
    while (!signal.aborted) {
      await look(signal).catch(failed);
      await wait(everyMs);
    }
  };

  return {
    start: (): void => {
      watching = watch();
    },
    stop: (): Promise<void> => {
      end.abort();
      return watching;
    },
  };
};
