import { setTimeout as pause } from 'node:timers/promises';

export type Watch = ReturnType<typeof createWatch>;

/**
 * Polls by the real clock, `everyMs` after each check. Errors go to `failed`, and polling
 * continues. The signal is aborted on stop.
 */
export const createWatch = ({
  everyMs,
  afterMs = 0,
  look,
  failed,
}: {
  everyMs: number;
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
    start: (): void => {
      watching = watch();
    },
    stop: (): Promise<void> => {
      end.abort();
      return watching;
    },
  };
};
