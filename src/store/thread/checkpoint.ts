import type Database from 'better-sqlite3';
import { type Cancel, systemClock } from '../../kernel/clock.js';

/**
 * Checkpoints dominate p99, so the reader thread does passive ones, which delay no commit. They
 * cannot restart the log during writes, so the writer does that above the limit.
 */
const EVERY_MS = 500;
const LOOK_EVERY = 64;
/** Size that the log file keeps, because shrinking and growing would slow down commits. */
export const LOG_BYTES = 64 * 1024 * 1024;

export const checkpointByTimer = (db: Database.Database): Cancel =>
  systemClock.every(EVERY_MS, () => checkpoint(db));

export const checkpoint = (db: Database.Database): void => attempt(db, 'PASSIVE');

/** Call after each transaction in the writer thread. Waits for no other connection. */
export const limitLogSize = (db: Database.Database): (() => void) => {
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  let transactions = 0;
  return () => {
    if (++transactions % LOOK_EVERY !== 0) return;
    if (pagesInLog(db) * pageBytes < LOG_BYTES) return;
    const busyTimeoutMs = db.pragma('busy_timeout', { simple: true });
    db.pragma('busy_timeout = 0');
    attempt(db, 'RESTART');
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  };
};

/** The file size does not show this, because the log restarts at the beginning of the file. */
const pagesInLog = (db: Database.Database): number => {
  const found = db.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)').get();
  return found?.log ?? 0;
};

export const emptyLog = (db: Database.Database): void => attempt(db, 'TRUNCATE');

/** A full disk is reported to the writes. The next call tries again. */
const attempt = (db: Database.Database, mode: 'PASSIVE' | 'RESTART' | 'TRUNCATE'): void => {
  try {
    db.pragma(`wal_checkpoint(${mode})`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
};
