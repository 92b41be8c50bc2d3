import {
  closeSync,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Cancel, systemClock } from '../../src/kernel/clock.js';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { valueAt } from '../columns.js';
import { localTime, oneLine, plainText, safe, safeJson } from '../text.js';

export const getDaemonLogPath = (home: string): string => join(home, 'logs', 'daemon.log');

/** The log, open for appending (0600), and the offset where new lines begin. */
export interface OpenLog {
  fd: number;
  from: number;
}

/** Opens or creates the log of a home. Rotates a large one; three old ones are kept. */
export const openLog = (home: string): OpenLog => {
  const path = getDaemonLogPath(home);
  makePrivateFolder(dirname(path));
  if (getFileSize(path) > ROTATE_BYTES) rotateLog(path);
  return { fd: openSync(path, 'a', 0o600), from: getFileSize(path) };
};

/** Text of a log from an offset in bytes; empty if there is no log. */
export const readFrom = (path: string, from: number): string =>
  bytesFrom(path, from).toString('utf8');

const bytesFrom = (path: string, from: number): Buffer => {
  const size = getFileSize(path);
  if (size <= from) return Buffer.alloc(0);
  const fd = openSync(path, 'r');
  try {
    return readBytes(fd, from, size - from);
  } finally {
    closeSync(fd);
  }
};

/** The last lines of a file, oldest first, and the offset of its end. */
export const lastLines = (path: string, count: number): { lines: string[]; end: number } => {
  const bytes = bytesFrom(path, 0);
  const lines = count === 0 ? [] : logLines(bytes.toString('utf8')).slice(-count);
  return { lines, end: bytes.length };
};

export const logLines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

export const getFileSize = (path: string): number =>
  statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const readBytes = (fd: number, from: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, from + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
};

const ROTATE_BYTES = 10 * 1024 * 1024;
const KEPT = 3;
const EVERY_MS = 60_000;

/** daemon.log.1 is the newest of the old ones. */
const rotateLog = (path: string): void => {
  shift(path);
  renameSync(path, `${path}.1`);
};

/**
 * Rotates a large log while a descriptor appends to it. Skips a descriptor of another file, such
 * as a redirection by the user.
 */
export const rotateOpen = (path: string, fd: number): void => {
  const open = fstatSync(fd);
  const named = statSync(path, { throwIfNoEntry: false });
  const isSame = named?.ino === open.ino && named.dev === open.dev;
  if (!isSame || open.size <= ROTATE_BYTES) return;
  const copy = `${path}.copy`;
  try {
    copyFileSync(path, copy);
  } catch (error) {
    // A partial copy, on a full disk, must not replace a complete one.
    rmSync(copy, { force: true });
    throw error;
  }
  shift(path);
  renameSync(copy, `${path}.1`);
  ftruncateSync(fd);
};

/** Checks the size regularly if stderr is that log. Returns the function that stops it. */
export const keepLogSmall = (path: string): Cancel =>
  systemClock.every(EVERY_MS, () => {
    try {
      rotateOpen(path, process.stderr.fd);
    } catch (error) {
      // On a full disk the log stays as it is, and the next check tries again.
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  });

const shift = (path: string): void => {
  for (let number = KEPT - 1; number >= 1; number--) {
    const old = `${path}.${number}`;
    if (statSync(old, { throwIfNoEntry: false })) renameSync(old, `${path}.${number + 1}`);
  }
};

const POLL_MS = 200;
const NEWLINE = 10;

interface LogHandle {
  fd: number;
  inode: number;
  at: number;
  /** The incomplete last line. */
  begun: Buffer;
}

/**
 * Yields each line that is appended after an offset, across rotations, until the signal is
 * aborted. The file need not exist yet.
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
        if (file !== null) yield* restOf(file);
        file = openAt(path, 0);
      }
      await systemClock.wait(POLL_MS, signal).catch(() => undefined);
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
function* restOf(file: LogHandle): Generator<string> {
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

const LEVEL_WIDTH = 5;

/** Formats a log line for a person: local time, level, event, then `key=value`. */
export const formatLogLine = (line: string): string => {
  const entry = parseLogEntry(line);
  if (entry === null) return safe(line);
  const { at, level, msg, err, ...rest } = entry;
  const cells = [timeIn(at), levelIn(level), oneLine(plainText(msg)).padEnd(12), ...pairs(rest)];
  const error = err === undefined ? [] : [`error=${quoted(valueAt(err, 'message') ?? err)}`];
  return [[...cells, ...error].join(' ').trimEnd(), ...renderStack(err)].join('\n');
};

/** Returns one JSON object. Plain text, such as that of a crash, becomes its `msg`. */
export const logLineAsJson = (line: string): string =>
  parseLogEntry(line) === null ? safeJson({ msg: line }) : line;

/** The log lines that explain a failure: plain text lines, or else errors. */
export const failureLines = (lines: string[]): string[] => {
  const plainLines = lines.filter((line) => parseLogEntry(line) === null);
  if (plainLines.length > 0) return plainLines.map(safe);
  return lines
    .filter((line) => ['error', 'fatal'].includes(plainText(parseLogEntry(line)?.level)))
    .map(formatLogLine);
};

const parseLogEntry = (line: string): Record<string, unknown> | null => {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
};

const timeIn = (at: unknown): string =>
  typeof at === 'string' ? `${localTime(at)}.${at.slice(20, 23)}` : ' '.repeat(12);

/** In capitals, so that errors stand out without colours. */
const levelIn = (level: unknown): string => {
  const word = oneLine(plainText(level)).padEnd(LEVEL_WIDTH);
  return /^(error|fatal)/.test(word) ? word.toUpperCase() : word;
};

/** Puts the event first and ids last, because ids are long and rarely read. */
const pairs = (values: Record<string, unknown>): string[] => {
  const input = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  const isId = ([key]: [string, unknown]) => key.endsWith('Id');
  return [...input.filter((each) => !isId(each)), ...input.filter(isId)].map(
    ([key, value]) => `${oneLine(key)}=${quoted(value)}`,
  );
};

const quoted = (value: unknown): string => {
  const text = oneLine(plainText(value));
  return /[\s"]/.test(text) && typeof value === 'string' ? JSON.stringify(text) : text;
};

const renderStack = (err: unknown): string[] => {
  const stack = valueAt(err, 'stack');
  if (typeof stack !== 'string') return [];
  return safe(stack)
    .split('\n')
    .slice(1)
    .map((line) => `    ${line.trim()}`);
};
