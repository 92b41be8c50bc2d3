import { setTimeout as pause } from 'node:timers/promises';

/** Ours: a folder that does not answer is not waited for longer, in milliseconds. */
const PATIENCE_MS = 5000;

/** The readings of each folder that have begun and not ended, one after the other. */
const turns = new Map<string, Promise<unknown>>();
/** The folders of which a reading has been waited for in vain, and has not ended yet. */
const hanging = new Set<string>();

/**
 * Reads something of a folder, or resolves to `late` where that does not answer: a share of another
 * machine may hang for ever. All readings of one folder take turns, so that it holds one of the few
 * threads that read files, and not all of them.
 */
export const readPatiently = async <T>(
  folder: string,
  read: () => Promise<T>,
  late: T,
  patienceMs = PATIENCE_MS,
): Promise<T> => {
  if (hanging.has(folder)) return late;
  let isLate = false;
  const before = turns.get(folder) ?? Promise.resolve();
  const reading = before.catch(() => undefined).then(() => (isLate ? late : read()));
  turns.set(folder, reading);
  const ended = reading.finally(() => {
    hanging.delete(folder);
    if (turns.get(folder) === reading) turns.delete(folder);
  });
  // One that is late fails unheard.
  ended.catch(() => undefined);
  const stop = new AbortController();
  const waited = pause(patienceMs, late, { ref: false, signal: stop.signal }).then(() => {
    isLate = true;
    hanging.add(folder);
    return late;
  });
  waited.catch(() => undefined);
  return Promise.race([ended, waited]).finally(() => stop.abort());
};
