import type Database from 'better-sqlite3';

/**
 * Checkpoints dominate p99. So a writer thread at work leaves them to the reader thread, whose
 * passive ones delay no commit. Passive ones alone cannot restart the log while it is being written to, so
 * the writer thread does that if the log exceeds its limit.
 */
const EVERY_MS = 500;
const LOOK_EVERY = 64;
/**
 * The size that the log file keeps when it is restarted. Shrinking and growing it again would cost
 * every commit.
 */
export const LOG_BYTES = 64 * 1024 * 1024;

/**
 * Starts a timer in the reader thread that moves committed pages out of the log. Returns a function
 * that stops it.
 */
export const checkpointByTimer = (db: Database.Database): (() => void) => {
  const timer = setInterval(() => checkpoint(db), EVERY_MS);
  return () => clearInterval(timer);
};

/** Does the same once, in the writer thread: without a reader nobody else does. */
export const checkpoint = (db: Database.Database): void => attempt(db, 'PASSIVE');

/**
 * Returns a function that limits the log, for the writer thread to call after each transaction. It
 * waits for no other connection.
 */
export const boundLog = (db: Database.Database): (() => void) => {
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

/**
 * Returns the pages in the log. The file's size does not show this, because the log restarts at the
 * beginning of the file.
 */
const pagesInLog = (db: Database.Database): number => {
  const found = db.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)').get();
  return found?.log ?? 0;
};

/** Empties the log at the end, so that the database is one file. */
export const emptyLog = (db: Database.Database): void => attempt(db, 'TRUNCATE');

/** Runs a checkpoint. A full disk is reported to the writes; the next call tries again. */
const attempt = (db: Database.Database, mode: 'PASSIVE' | 'RESTART' | 'TRUNCATE'): void => {
  try {
    db.pragma(`wal_checkpoint(${mode})`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
};
