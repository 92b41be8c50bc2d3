import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBytes } from './log.js';

const POLL_MS = 200;
const NEWLINE = 10;

interface LogHandle {
  fd: number;
  inode: number;
  /** Bytes read so far. */
  at: number;
  /** A line that is not at its end yet. */
  begun: Buffer;
}

/**
 * Every line that is appended to a file after a byte, through its rotation, until the signal is
 * aborted. The file need not be there yet.
 */
export async function* followLog(
  path: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let file = openAt(path, from);
  try {
    while (!signal.aborted) {
      if (file !== null) yield* newLines(file);
      if (file === null || isReplaced(path, file)) {
        if (file !== null) yield* lastLines(file);
        file = openAt(path, 0);
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    if (file !== null) closeSync(file.fd);
  }
}

const openAt = (path: string, from: number): LogHandle | null => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return null;
  const fd = openSync(path, 'r');
  return { fd, inode: fstatSync(fd).ino, at: from, begun: Buffer.alloc(0) };
};

const isReplaced = (path: string, file: LogHandle): boolean => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.ino !== file.inode;
};

/** Text written to the old file before the new one took its name. */
function* lastLines(file: LogHandle): Generator<string> {
  yield* newLines(file);
  if (file.begun.length > 0) yield file.begun.toString('utf8');
  closeSync(file.fd);
}

function* newLines(file: LogHandle): Generator<string> {
  const { size } = fstatSync(file.fd);
  if (size < file.at) file.at = 0;
  const bytes = readBytes(file.fd, file.at, size - file.at);
  file.at += bytes.length;
  let rest = Buffer.concat([file.begun, bytes]);
  for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
    if (end > 0) yield rest.subarray(0, end).toString('utf8');
    rest = rest.subarray(end + 1);
  }
  file.begun = rest;
}
