import { setImmediate, setTimeout } from 'node:timers/promises';

/** Lets everything go on that waits for nothing from outside: so many turns of the event loop. */
export const turns = async (count = 50): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await setImmediate();
};

/**
 * Waits until the timers of this process have fired that are set for at most so many milliseconds.
 * Timers fire in the order of their times, so a busy machine changes nothing. Not a way to wait for
 * another process.
 */
export const timersFired = async (ms: number): Promise<void> => {
  await setTimeout(ms + 1);
  await turns();
};

/** Waits as long as a person takes to read: a program takes no answer before that. */
export const readingTime = (ms: number): Promise<void> => setTimeout(ms);
