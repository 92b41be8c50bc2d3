import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export const syncToDisk = (path: string): void => {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/** A new name is durable only after its folder is synced. */
export const renameDurably = (from: string, to: string): void => {
  renameSync(from, to);
  syncToDisk(dirname(to));
};

/** Renamed into place, so that a crash or a full disk leaves the earlier file. */
export const writeDurably = (path: string, content: string | Buffer): void => {
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
