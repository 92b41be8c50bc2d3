import type { Clock } from '../kernel/clock.js';

export interface NextTry {
  attempt: number;
  /** Maximum number of attempts in a row. */
  of: number;
  pauseMs: number;
  reason: string;
}

interface RetriedWork {
  clock: Clock;
  signal: AbortSignal;
  /** Continues from the current state. */
  work(): Promise<void>;
  /** Current progress. A new maximum resets the attempts. */
  reached(): Promise<number>;
  /** Reason to retry; null: no retry. */
  brokenBy(error: unknown): string | null;
  /** Pause that a server requests, in milliseconds. */
  askedMs?(error: unknown): number;
  /** Called before the pause. */
  onRetry(next: NextTry): void;
}

/** Attempts in a row without progress. */
const ATTEMPTS = 8;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** Maximum pause that a server can request. */
const MAX_ASKED_MS = 600_000;

/** Retries with growing pauses. Throws the last error, or the reason of the signal. */
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
      const growing = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
      const pauseMs = Math.max(growing, Math.min(MAX_ASKED_MS, of.askedMs?.(error) ?? 0));
      of.onRetry({ attempt: failures + 1, of: ATTEMPTS, pauseMs, reason });
      await of.clock.wait(pauseMs, signal);
    }
  }
};
