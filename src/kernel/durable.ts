import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Forces a file, or a folder with the names in it, to the disk (POSIX fsync). */
export const syncToDisk = (path: string): void => {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/** Renames a file and syncs its folder, because a new name is durable only then. */
export const renameDurably = (from: string, to: string): void => {
  renameSync(from, to);
  syncToDisk(dirname(to));
};

/**
 * Writes a private file durably. It is renamed into place, so that a crash or a full disk leaves the
 * earlier file, or none.
 */
export const writeWhole = (path: string, content: string | Buffer): void => {
  const part = `${path}.part`;
  try {
    rmSync(part, { force: true });
    writeFileSync(part, content, { flag: 'wx', mode: 0o600, flush: true });
    renameDurably(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
};
