import { stat } from 'node:fs/promises';
import type { Workers } from '../operations/module.js';
import { type HeaderReading, readHeader } from './header.js';

/** Headers are read for the whole installation, not for one user. */
const READER = 'capabilities';

/** Reads each file once per change. */
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
    // An aborted read is not cached.
    reading.catch(() => known.delete(path));
    return reading;
  };
};

export type HeaderReader = ReturnType<typeof createHeaders>;
