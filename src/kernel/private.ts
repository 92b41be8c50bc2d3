import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './failure.js';

const PRIVATE = 0o600;
const PRIVATE_FOLDER = 0o700;

/**
 * Makes an empty file that only its user may read, from the first byte and whatever the umask. An
 * existing file keeps its contents and gets these permissions. SQLite gives its journal, its
 * write-ahead log and that log's index the permissions of the database, so this runs before SQLite
 * opens a database. An existing file is not opened: closing it would release the locks that this
 * process holds on it.
 */
export const makePrivate = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', PRIVATE));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    chmodSync(path, PRIVATE);
  }
};

/**
 * Makes a folder and its missing parents, for its user only. An existing folder stays as it is.
 * Node's `mkdir` with `recursive` never returns where the system makes no folders, as under /proc.
 */
export const makePrivateFolder = (path: string): void => {
  try {
    mkdirSync(path, { mode: PRIVATE_FOLDER });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makePrivateFolder(dirname(path));
    makePrivateFolder(path);
  }
};

/**
 * Makes all files that this process and its children create from now on accessible to their user
 * only.
 */
export const keepPrivate = (): void => {
  process.umask(0o077);
};
