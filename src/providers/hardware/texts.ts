import { readFileSync } from 'node:fs';

/** Returns the text of a file of the system; null if there is none, or it may not be read. */
export type ReadText = (path: string) => string | null;

/** The longest text that is read of one file, in characters. */
const LONGEST = 1_000_000;

export const readSystemText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8').slice(0, LONGEST);
  } catch {
    return null;
  }
};
