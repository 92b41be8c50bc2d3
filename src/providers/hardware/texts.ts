import { readFileSync } from 'node:fs';

/** Reads a system file; null if it is missing or not readable. */
export type ReadText = (path: string) => string | null;

/** In characters. */
const MAX_LENGTH = 1_000_000;

export const readSystemText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8').slice(0, MAX_LENGTH);
  } catch {
    return null;
  }
};
