import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { ROTATE_BYTES, rotateLog } from './rotation.js';

const CHUNK_BYTES = 64 * 1024;

/** Log file of the background daemon of a home. */
export const logOf = (home: string): string => join(home, 'logs', 'daemon.log');

/** The log, open for appending (0600), and where what is new in it begins. */
export interface OpenLog {
  fd: number;
  from: number;
}

/** Opens the log of a home, which is made if need be; a large one is put aside, three are kept. */
export const openLog = (home: string): OpenLog => {
  const path = logOf(home);
  makePrivateFolder(dirname(path));
  if (sizeOf(path) > ROTATE_BYTES) rotateLog(path);
  return { fd: openSync(path, 'a', 0o600), from: sizeOf(path) };
};

/** Text of a log from a byte on; empty where there is no log. */
export const readFrom = (path: string, from: number): string => {
  const size = sizeOf(path);
  if (size <= from) return '';
  const fd = openSync(path, 'r');
  try {
    return readBytes(fd, from, size - from).toString('utf8');
  } finally {
    closeSync(fd);
  }
};

/** The last lines of a file, oldest first, read from its end, and where that end is. */
export const lastLines = (path: string, count: number): { lines: string[]; end: number } => {
  const end = sizeOf(path);
  if (count === 0 || end === 0) return { lines: [], end };
  const fd = openSync(path, 'r');
  try {
    let tail = Buffer.alloc(0);
    for (let from = end; from > 0 && newlines(tail) <= count; ) {
      const length = Math.min(CHUNK_BYTES, from);
      from -= length;
      tail = Buffer.concat([readBytes(fd, from, length), tail]);
    }
    return { lines: logLines(tail.toString('utf8')).slice(-count), end };
  } finally {
    closeSync(fd);
  }
};

export const logLines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

export const sizeOf = (path: string): number =>
  statSync(path, { throwIfNoEntry: false })?.size ?? 0;

export const readBytes = (fd: number, from: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, from + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
};

const newlines = (bytes: Buffer): number => {
  let count = 0;
  for (const byte of bytes) if (byte === 10) count++;
  return count;
};
