import { systemClock } from '../kernel/clock.js';

const PATIENCE_MS = 5000;

/** Pending reads per folder, in order. */
const turns = new Map<string, Promise<unknown>>();
/** Folders with a read that timed out and has not ended. */
const hanging = new Set<string>();

/**
 * Resolves to `late` if the folder does not respond, since a network share may hang forever. Reads
 * of one folder are serialized, so that it blocks only one of the few file system threads.
 */
export const readWithTimeout = async <T>(
  folder: string,
  read: () => Promise<T>,
  late: T,
  clock = systemClock,
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
  // A late rejection is ignored.
  ended.catch(() => undefined);
  const stop = new AbortController();
  const waited = clock.wait(PATIENCE_MS, stop.signal, { ref: false }).then(() => {
    isLate = true;
    hanging.add(folder);
    return late;
  });
  waited.catch(() => undefined);
  return Promise.race([ended, waited]).finally(() => stop.abort());
};
