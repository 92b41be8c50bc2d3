import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './failure.js';

const PRIVATE = 0o600;
const PRIVATE_FOLDER = 0o700;

/**
 * Creates a file readable only by its user, regardless of the umask, and restricts an existing one.
 * SQLite copies these permissions to its journal and log, so call it before SQLite opens a
 * database. An existing file is not opened, because closing it would release this process's locks
 * on it.
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
 * Existing folders stay unchanged. Node's recursive `mkdir` never returns where the system creates
 * no folders, as under /proc.
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

export const restrictUmask = (): void => {
  process.umask(0o077);
};
