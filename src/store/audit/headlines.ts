import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import type { AuditHead } from '../engine/protocol.js';

const LINE = /^(\d{1,15}) ([0-9a-f]{64})$/;
/** About eight hundred lines: a millisecond of work. */
const CHUNK = 64 * 1024;
/** O_NONBLOCK prevents blocking if, say, a named pipe has replaced the file. */
const { O_APPEND, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A section of a file of heads. */
export interface HeadChunk {
  /** The heads, oldest first. */
  heads: AuditHead[];
  /** The offset of what follows, or null at the end. */
  next: number | null;
}

/** Returns the path of the file of heads in a home. */
export const headFileIn = (home: string): string => join(home, 'audit.head');

export const headLine = ({ number, mac }: AuditHead): string => `${number} ${mac}\n`;

/**
 * Returns the heads in the file of a home, oldest first. A half line that a crash left is ignored.
 */
export const readHeads = (home: string): AuditHead[] =>
  headsIn(readFileSync(headFileIn(home), 'utf8'));

/** Returns the next heads of a file from an offset, which is the beginning of a line. */
export const readChunk = (file: string, from: number): HeadChunk => {
  const { text, size } = readAt(file, from);
  const isEnd = from + text.length >= size;
  const end = isEnd ? text.length : text.lastIndexOf('\n') + 1 || text.length;
  return { heads: headsIn(text.slice(0, end)), next: isEnd ? null : from + end };
};

/** Returns the newest heads of a file, however long it is. */
export const readTail = (file: string): AuditHead[] => {
  const { size } = statSync(file);
  if (size <= CHUNK) return headsIn(readAt(file, 0).text);
  const { text } = readAt(file, size - CHUNK);
  // The first line may have lost its beginning, and with it some digits of its number.
  return headsIn(text.slice(text.indexOf('\n') + 1));
};

const readAt = (file: string, from: number): { text: string; size: number } => {
  const handle = openSync(file, O_RDONLY | O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(CHUNK);
    const read = readSync(handle, bytes, 0, CHUNK, from);
    return { text: bytes.toString('latin1', 0, read), size: fstatSync(handle).size };
  } finally {
    closeSync(handle);
  }
};

/** True if the next line can be added without a line break. */
export const endsInLine = (file: string): boolean => {
  const { size } = statSync(file);
  return size === 0 || readAt(file, size - 1).text === '\n';
};

/** Appends to a file of this size. Returns false if the file has another size, or is gone. */
export const appendAt = (file: string, size: number, text: string): boolean => {
  try {
    const handle = openSync(file, O_WRONLY | O_APPEND | O_NONBLOCK);
    try {
      if (fstatSync(handle).size !== size) return false;
      appendFileSync(handle, text);
      return true;
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
};

/** Returns the heads that the database does not contain, or contains with another MAC. */
export const contradictedOf = (db: Database.Database, heads: AuditHead[]): AuditHead[] => {
  const macAt = db.prepare<[number], string>('SELECT mac FROM audit WHERE number = ?').pluck();
  return heads.filter(({ number, mac }) => macAt.get(number) !== mac);
};

export const headsIn = (text: string): AuditHead[] =>
  text.split('\n').flatMap((line) => {
    const [, number, mac] = LINE.exec(line) ?? [];
    return number === undefined || mac === undefined ? [] : [{ number: Number(number), mac }];
  });
