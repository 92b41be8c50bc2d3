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
/** Some eight hundred lines: a millisecond of work. */
const CHUNK = 64 * 1024;
/** What was put in the place of the file, a named pipe, say, keeps nobody waiting. */
const { O_APPEND, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A part of a file of heads. */
export interface HeadChunk {
  /** Oldest first. */
  heads: AuditHead[];
  /** Offset of what follows; null: nothing. */
  next: number | null;
}

/** The file that a home has of its own. */
export const headFileIn = (home: string): string => join(home, 'audit.head');

export const headLine = ({ number, mac }: AuditHead): string => `${number} ${mac}\n`;

/** What the file of a home says, oldest first. A line that a crash left half written says nothing. */
export const readHeads = (home: string): AuditHead[] =>
  headsIn(readFileSync(headFileIn(home), 'utf8'));

/** The next heads of a file from an offset, which is the beginning of a line. */
export const readChunk = (file: string, from: number): HeadChunk => {
  const { text, size } = readAt(file, from);
  const isEnd = from + text.length >= size;
  const end = isEnd ? text.length : text.lastIndexOf('\n') + 1 || text.length;
  return { heads: headsIn(text.slice(0, end)), next: isEnd ? null : from + end };
};

/** The newest heads of a file, however long it is. */
export const readTail = (file: string): AuditHead[] => {
  const { size } = statSync(file);
  if (size <= CHUNK) return headsIn(readAt(file, 0).text);
  const { text } = readAt(file, size - CHUNK);
  // The first of them may have lost its beginning, and with it some digits of its number.
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

/** Whether the next line can be added as it is. */
export const endsInLine = (file: string): boolean => {
  const { size } = statSync(file);
  return size === 0 || readAt(file, size - 1).text === '\n';
};

/** Adds to a file that has so many bytes; false where it has others, or is gone. */
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

/** Those of the heads that the database does not hold, or holds otherwise. */
export const contradictedOf = (db: Database.Database, heads: AuditHead[]): AuditHead[] => {
  const macAt = db.prepare<[number], string>('SELECT mac FROM audit WHERE number = ?').pluck();
  return heads.filter(({ number, mac }) => macAt.get(number) !== mac);
};

export const headsIn = (text: string): AuditHead[] =>
  text.split('\n').flatMap((line) => {
    const [, number, mac] = LINE.exec(line) ?? [];
    return number === undefined || mac === undefined ? [] : [{ number: Number(number), mac }];
  });
