import { listInside, NotInside, readInside } from '../kernel/confinedpath.js';

export interface SearchMatch {
  path: string;
  /** The number of the line, from 1. */
  line: number;
  /** The line, cut to 300 characters. */
  text: string;
}

const LEVELS = 16;
const MOST_FILES = 5_000;
const MOST_MATCHES = 200;
const LONGEST_LINE = 300;
/** Larger files are skipped. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;

/**
 * Returns every line below a folder that contains the text. Throws NotInside, or the signal's
 * reason.
 */
export const searchFolder = async (
  root: string,
  wanted: { text: string; path: string; ignoreCase: boolean },
  signal: AbortSignal,
): Promise<{ matches: SearchMatch[]; truncated: boolean }> => {
  const found = await listInside(root, wanted.path, { levels: LEVELS, most: MOST_FILES });
  const files = found.entries.filter(({ kind, size }) => kind === 'file' && size <= MAX_FILE_BYTES);
  const matches: SearchMatch[] = [];
  let left = MAX_TOTAL_BYTES;
  for (const { path, size } of files) {
    signal.throwIfAborted();
    left -= size;
    if (left < 0) return { matches, truncated: true };
    for (const match of linesWith(wanted, path, await contentOf(root, path))) {
      if (matches.length === MOST_MATCHES) return { matches, truncated: true };
      matches.push(match);
    }
  }
  return { matches, truncated: found.isCut };
};

/** Returns a file's text; empty if the file was removed meanwhile or is binary. */
const contentOf = async (root: string, path: string): Promise<string> => {
  try {
    const bytes = await readInside(root, path, MAX_FILE_BYTES);
    return bytes.includes(0) ? '' : bytes.toString();
  } catch (error) {
    if (error instanceof NotInside) return '';
    throw error;
  }
};

const linesWith = (
  { text, ignoreCase }: { text: string; ignoreCase: boolean },
  path: string,
  content: string,
): SearchMatch[] => {
  const fold = (given: string) => (ignoreCase ? given.toLowerCase() : given);
  if (!fold(content).includes(fold(text))) return [];
  return content
    .split('\n')
    .map((line, at) => ({ path, line: at + 1, text: line }))
    .filter((each) => fold(each.text).includes(fold(text)))
    .map((each) => ({ ...each, text: each.text.slice(0, LONGEST_LINE) }));
};
