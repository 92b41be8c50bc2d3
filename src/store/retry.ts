import type { Clock } from '../kernel/clock.js';
import { Unavailable } from './engine/protocol.js';

const AGAIN_MS = 5000;

/**
 * Retries while the database is unavailable, so that results of outside effects and long work are
 * not lost.
 */
export const retryWhileUnavailable = async <T>(
  clock: Clock,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> => {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await clock.wait(AGAIN_MS, signal);
    }
  }
};
