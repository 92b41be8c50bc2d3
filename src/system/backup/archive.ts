import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { buildTarHeader, buildTarPadding, endOfTar } from '../../kernel/tar.js';
import { formatInode } from './home.js';
import type { BackupFile } from './manifest.js';

const CHUNK = 1024 * 1024;

/** For a file that an agent may replace by a link or a pipe: no link is followed, no pipe waited for. */
const WARY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface NewFile {
  path: string;
  isExecutable: boolean;
  mtime: number;
}

/** The file is gone or was replaced. Nothing of it was written. */
export class FileGone extends Error {
  override name = 'FileGone';
}

export interface FileSource {
  path: string;
  /** The inode that the file must have. */
  inode?: string;
}

/** The file (mode 0600) must not exist yet. `wrote` is called after each write, and may throw. */
export const openArchive = (path: string, wrote: (bytes: number) => void) => {
  const out = openSync(path, 'wx', 0o600);
  const put = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; ) at += writeSync(out, bytes, at);
    wrote(bytes.length);
  };

  const entry = (file: NewFile, size: number, write: (each: (bytes: Buffer) => void) => void) => {
    const hash = createHash('sha256');
    put(buildTarHeader({ ...file, name: file.path, size }));
    write((bytes) => {
      hash.update(bytes);
      put(bytes);
    });
    put(buildTarPadding(size));
    return { path: file.path, size, sha256: hash.digest('hex') };
  };

  return {
    add: (file: NewFile, bytes: Buffer): BackupFile =>
      entry(file, bytes.length, (each) => each(bytes)),
    /** `isTorn` is true if the file became shorter while it was read. Throws FileGone. */
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
    /** The archive is on the disk when this returns. */
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
  if (inode === undefined || inode === formatInode(fstatSync(from))) return from;
  closeSync(from);
  throw new FileGone(
    'another file replaced this file during the backup. Run adjutant backup create again',
  );
};

/** Fills up with zeros what is missing of `size` bytes. Returns true if something was missing. */
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
