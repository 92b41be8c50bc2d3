import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { endOfTar, headerOf, paddingOf } from '../../kernel/tar.js';
import { inodeOf } from './home.js';
import type { BackupFile } from './manifest.js';

const CHUNK = 1024 * 1024;

/**
 * Flags to open a file that an agent may have replaced by a link or a pipe: a link is not followed,
 * and a pipe is not waited for.
 */
const WARY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface NewFile {
  path: string;
  isExecutable: boolean;
  mtime: number;
}

/**
 * The error for a file that no longer exists, or that another file has replaced. Nothing of it was
 * written.
 */
export class FileGone extends Error {
  override name = 'Gone';
}

export interface FileSource {
  path: string;
  /** The inode that the file must have. */
  inode?: string;
}

/**
 * Opens a tar archive for writing. Makes the file (mode 0600), which must not exist yet. Calls `wrote` with the number of bytes
 * after each write; `wrote` may throw.
 */
export const openArchive = (path: string, wrote: (bytes: number) => void) => {
  const out = openSync(path, 'wx', 0o600);
  const put = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; ) at += writeSync(out, bytes, at);
    wrote(bytes.length);
  };

  const entry = (file: NewFile, size: number, write: (each: (bytes: Buffer) => void) => void) => {
    const hash = createHash('sha256');
    put(headerOf({ ...file, name: file.path, size }));
    write((bytes) => {
      hash.update(bytes);
      put(bytes);
    });
    put(paddingOf(size));
    return { path: file.path, size, sha256: hash.digest('hex') };
  };

  return {
    add: (file: NewFile, bytes: Buffer): BackupFile =>
      entry(file, bytes.length, (each) => each(bytes)),
    /**
     * Adds a file with the size that it has when it is opened. `isTorn` is true if it became
     * shorter while it was read. Throws FileGone.
     */
    addFrom: (file: NewFile, source: FileSource): BackupFile & { isTorn: boolean } => {
      const from = openWarily(source);
      try {
        const { size } = fstatSync(from);
        let isTorn = false;
        const added = entry(file, size, (each) => {
          isTorn = readAll(from, size, each);
        });
        return { ...added, isTorn };
      } finally {
        closeSync(from);
      }
    },
    /** Ends the archive. It is on the disk when this returns. */
    end: (): void => {
      put(endOfTar());
      fsyncSync(out);
    },
    close: () => closeSync(out),
  };
};

export type Archive = ReturnType<typeof openArchive>;

const openWarily = ({ path, inode }: FileSource): number => {
  let from: number;
  try {
    from = openSync(path, WARY);
  } catch (error) {
    throw error instanceof Error ? new FileGone(error.message) : error;
  }
  if (inode === undefined || inode === inodeOf(fstatSync(from))) return from;
  closeSync(from);
  throw new FileGone('another file is in its place');
};

/**
 * Reads exactly `size` bytes and fills up with zeros what is missing at the end. Returns true if
 * something was missing.
 */
const readAll = (from: number, size: number, each: (bytes: Buffer) => void): boolean => {
  const chunk = Buffer.alloc(Math.min(size, CHUNK));
  let isTorn = false;
  for (let at = 0; at < size; ) {
    const due = Math.min(chunk.length, size - at);
    const read = isTorn ? 0 : readSync(from, chunk, 0, due, at);
    if (read === 0) {
      isTorn = true;
      chunk.fill(0);
    }
    const got = read === 0 ? due : read;
    each(chunk.subarray(0, got));
    at += got;
  }
  return isTorn;
};
