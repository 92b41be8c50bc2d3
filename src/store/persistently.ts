import { setTimeout as wait } from 'node:timers/promises';
import { Unavailable } from './engine/protocol.js';

const AGAIN_MS = 5000;

/**
 * Repeats work while the database is unavailable, as long as nobody aborts it: what has happened
 * outside must not be forgotten, nor long work given up, because the disk is full for a while.
 */
export const persistently = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await wait(AGAIN_MS, undefined, { signal });
    }
  }
};
