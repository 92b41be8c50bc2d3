import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const PRIVATE = 0o600;
const PRIVATE_FOLDER = 0o700;

/**
 * Makes an empty file that only its user may read, from the first byte and whatever the umask; one
 * that is there keeps its contents and gets these rights. SQLite gives its journal, its write-ahead
 * log and the index of that the rights of the database, so this comes before it opens one. A file
 * that is there is not opened: closing it would end the locks that this process holds on it.
 */
export const makePrivate = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', PRIVATE));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    chmodSync(path, PRIVATE);
  }
};

/**
 * Makes a folder, and those above it that are missing, for its user alone; one that is there stays as
 * it is. `mkdir` of Node with `recursive` never ends where the system makes none, as under /proc.
 */
export const makePrivateFolder = (path: string): void => {
  try {
    mkdirSync(path, { mode: PRIVATE_FOLDER });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makePrivateFolder(dirname(path));
    makePrivateFolder(path);
  }
};

/** All files that this process and its children make from now on are their user's alone. */
export const keepPrivate = (): void => {
  process.umask(0o077);
};
