import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
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
