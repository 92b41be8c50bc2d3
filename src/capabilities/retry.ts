import { setTimeout as wait } from 'node:timers/promises';

/** The try that comes next after one that broke off. */
export interface NextTry {
  attempt: number;
  /** The most tries in a row. */
  of: number;
  pauseMs: number;
  /** The reason why the last try ended. */
  reason: string;
}

interface RetriedWork {
  signal: AbortSignal;
  /** Does the work, from where it is. */
  work(): Promise<void>;
  /** Returns how far it is. After a try that came further than all before, the tries are counted anew. */
  reached(): Promise<number>;
  /** Returns the reason to try again after an error; null: it is not tried again. */
  brokenBy(error: unknown): string | null;
  /** Returns how long a server asks to be left alone, in milliseconds. */
  askedMs?(error: unknown): number;
  /** Hears of the next try, before the pause. */
  waits(next: NextTry): void;
  /** The pause after the first failure, in milliseconds. */
  firstPauseMs?: number;
}

/** Ours: so often work is tried in a row that comes no further. */
const ATTEMPTS = 8;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** Ours: a server that asks for more is asked again after this long. */
const MAX_ASKED_MS = 600_000;

/**
 * Does work again after each break, with pauses that grow. Throws the error of the last try, or the
 * reason of the signal.
 */
export const retryBroken = async (of: RetriedWork): Promise<void> => {
  const { signal } = of;
  let most = await of.reached();
  for (let failures = 0; ; ) {
    try {
      return await of.work();
    } catch (error) {
      signal.throwIfAborted();
      const reason = of.brokenBy(error);
      if (reason === null) throw error;
      const reached = await of.reached();
      failures = reached > most ? 1 : failures + 1;
      most = Math.max(most, reached);
      if (failures >= ATTEMPTS) throw error;
      const growing = Math.min(
        MAX_PAUSE_MS,
        (of.firstPauseMs ?? FIRST_PAUSE_MS) * 2 ** (failures - 1),
      );
      const pauseMs = Math.max(growing, Math.min(MAX_ASKED_MS, of.askedMs?.(error) ?? 0));
      of.waits({ attempt: failures + 1, of: ATTEMPTS, pauseMs, reason });
      await wait(pauseMs, undefined, { signal });
    }
  }
};
