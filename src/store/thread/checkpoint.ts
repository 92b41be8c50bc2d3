import type Database from 'better-sqlite3';

/**
 * Checkpoints are what shows in p99, so the writer leaves them to the reading thread, whose passive
 * ones hold up no commit. They alone cannot begin the log anew while it is being written to, so
 * the writer does that where it outgrew its bound.
 */
const EVERY_MS = 500;
const LOOK_EVERY = 64;
/** The log keeps this much of its space when it is begun anew: to take it back costs every commit. */
export const LOG_BYTES = 64 * 1024 * 1024;

/** In the reading thread: moves what is committed out of the log. Returns what stops it. */
export const checkpointByTimer = (db: Database.Database): (() => void) => {
  const timer = setInterval(() => attempt(db, 'PASSIVE'), EVERY_MS);
  return () => clearInterval(timer);
};

/** In the writing thread: to be called after each transaction. Waits for nobody. */
export const boundLog = (db: Database.Database): (() => void) => {
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  let transactions = 0;
  return () => {
    if (++transactions % LOOK_EVERY !== 0) return;
    if (pagesInLog(db) * pageBytes < LOG_BYTES) return;
    const patience = db.pragma('busy_timeout', { simple: true });
    db.pragma('busy_timeout = 0');
    attempt(db, 'RESTART');
    db.pragma(`busy_timeout = ${patience}`);
  };
};

/** The size of the file does not tell: it is begun anew from its start. */
const pagesInLog = (db: Database.Database): number => {
  const found = db.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)').get();
  return found?.log ?? 0;
};

/** At the end, so that the database is one file. */
export const emptyLog = (db: Database.Database): void => attempt(db, 'TRUNCATE');

/** A full disk shows in the answers to those who write; the next turn tries again. */
const attempt = (db: Database.Database, mode: 'PASSIVE' | 'RESTART' | 'TRUNCATE'): void => {
  try {
    db.pragma(`wal_checkpoint(${mode})`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
};
