import { setImmediate, setTimeout } from 'node:timers/promises';

/** Runs that many turns of the event loop, so that everything without external waits finishes. */
export const runLoopTurns = async (count = 50): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await setImmediate();
};

/**
 * Waits until all timers of this process up to that delay have fired. Timers fire in order, so a
 * busy machine changes nothing. Not suitable for other processes.
 */
export const timersFired = async (ms: number): Promise<void> => {
  await setTimeout(ms + 1);
  await runLoopTurns();
};

/** Waits as long as a person needs to read: programs accept no answer before that. */
export const readingTime = (ms: number): Promise<void> => setTimeout(ms);
