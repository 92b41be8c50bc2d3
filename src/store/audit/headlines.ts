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
const CHUNK = 64 * 1024;
/** O_NONBLOCK avoids blocking if a named pipe has replaced the file. */
const { O_APPEND, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

export interface HeadChunk {
  heads: AuditHead[];
  next: number | null;
}

export const headFileIn = (home: string): string => join(home, 'audit.head');

export const headLine = ({ number, mac }: AuditHead): string => `${number} ${mac}\n`;

/** Oldest first. Ignores an incomplete line after a crash. */
export const readHeads = (home: string): AuditHead[] =>
  headsIn(readFileSync(headFileIn(home), 'utf8'));

export const readChunk = (file: string, from: number): HeadChunk => {
  const { text, size } = readAt(file, from);
  const isEnd = from + text.length >= size;
  const end = isEnd ? text.length : text.lastIndexOf('\n') + 1 || text.length;
  return { heads: headsIn(text.slice(0, end)), next: isEnd ? null : from + end };
};

export const readTail = (file: string): AuditHead[] => {
  const { size } = statSync(file);
  if (size <= CHUNK) return headsIn(readAt(file, 0).text);
  const { text } = readAt(file, size - CHUNK);
  // The first line may be cut within its number.
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

export const endsInLine = (file: string): boolean => {
  const { size } = statSync(file);
  return size === 0 || readAt(file, size - 1).text === '\n';
};

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

/** Heads that are missing in the database, or have another MAC there. */
export const findContradictedHeads = (db: Database.Database, heads: AuditHead[]): AuditHead[] => {
  const macAt = db.prepare<[number], string>('SELECT mac FROM audit WHERE number = ?').pluck();
  return heads.filter(({ number, mac }) => macAt.get(number) !== mac);
};

export const headsIn = (text: string): AuditHead[] =>
  text.split('\n').flatMap((line) => {
    const [, number, mac] = LINE.exec(line) ?? [];
    return number === undefined || mac === undefined ? [] : [{ number: Number(number), mac }];
  });
