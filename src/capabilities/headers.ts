import { stat } from 'node:fs/promises';
import type { Workers } from '../operations/module.js';
import { type HeaderReading, readHeader } from './header.js';

/** The user in whose turn the headers are read: they are read for the whole installation. */
const READER = 'capabilities';

/** Creates what reads the header of a GGUF file, once for each state of the file. */
export const createHeaders = (workers: Workers) => {
  const known = new Map<string, { stamp: string; reading: Promise<HeaderReading> }>();
  return async (path: string, signal: AbortSignal): Promise<HeaderReading> => {
    const found = await stat(path).catch(() => null);
    if (!found) return { header: null, fault: 'The model file is missing' };
    const stamp = `${found.mtimeMs}:${found.size}`;
    const before = known.get(path);
    if (before?.stamp === stamp) return before.reading;
    const reading = readHeader(workers, { userId: READER, path, signal });
    known.set(path, { stamp, reading });
    // One that was stopped is read again.
    reading.catch(() => known.delete(path));
    return reading;
  };
};

export type HeaderReader = ReturnType<typeof createHeaders>;
