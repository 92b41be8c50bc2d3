import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { diskFullSentence, isDiskFull } from '../../kernel/failure.js';
import { makePrivate } from '../../kernel/private.js';
import {
  DATABASE,
  homeInUse,
  type Migration,
  OpenRefused,
  type OpenReport,
} from '../engine/protocol.js';
import { binaryFault } from './binary.js';
import { LOG_BYTES } from './checkpoint.js';
import { makeSnapshot } from './snapshots.js';
import { findTriggerFault, triggerRefusal } from './triggers.js';

/** Exists in a home during a restore, and after an interrupted one. */
export const RESTORING = 'restoring';
const QUICK_CHECK_BELOW_BYTES = 16 * 1024 * 1024;

export const withDatabase = <T>(
  file: string,
  options: Database.Options,
  work: (db: Database.Database) => T,
): T => {
  const db = new Database(file, options);
  try {
    return work(db);
  } finally {
    db.close();
  }
};

/**
 * For the life of the process. SQLite's lock on a separate file excludes a second process and is
 * released after `kill -9`; a pid file offers neither.
 */
export const takeLock = (home: string): Database.Database => {
  const file = join(home, 'lock.db');
  const lock = openFile(file, 0);
  try {
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (getSqliteCode(error).startsWith('SQLITE_BUSY')) throw homeInUse(home);
    throw toOpenRefused(error, home);
  }
};

const refuseInterruptedRestore = (home: string): void => {
  if (!existsSync(join(home, RESTORING))) return;
  throw new OpenRefused(
    `A restore into ${home} was interrupted. Empty the folder and restore the backup again`,
  );
};

const openFile = (file: string, timeout: number): Database.Database => {
  try {
    makePrivate(file);
    return new Database(file, { timeout });
  } catch (error) {
    if (isDiskFull(error)) throw new OpenRefused(diskFullSentence(dirname(file)));
    throw isOfSystem(error) ? notWritable(file, error) : toOpenRefused(error, file);
  }
};

const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;

const notWritable = (place: string, { message }: Error): OpenRefused =>
  new OpenRefused(`Cannot write to ${place}: ${message}`);

/**
 * Free bytes below which an I/O error means a full disk. SQLite reports SQLITE_IOERR if it cannot
 * extend the index of its log.
 */
const FULL_BYTES = 2 * 1024 * 1024;

export const isStorageFull = (error: unknown, folder: string): boolean => {
  const code = getSqliteCode(error);
  if (code === 'SQLITE_FULL') return true;
  if (!/^SQLITE_(IOERR|CANTOPEN)/.test(code)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < FULL_BYTES;
};

const getSqliteCode = (error: unknown): string =>
  error instanceof Database.SqliteError ? error.code : '';

/** A one-line error if the operator can fix the problem, otherwise the error itself. */
const toOpenRefused = (error: unknown, place: string): unknown => {
  const fault = binaryFault(error);
  if (fault !== null) return new OpenRefused(fault);
  const folder = existsSync(place) && statSync(place).isDirectory() ? place : dirname(place);
  if (isStorageFull(error, folder)) return new OpenRefused(diskFullSentence(folder));
  const code = getSqliteCode(error);
  if (/NOTADB|CORRUPT/.test(code)) return new OpenRefused(damaged(place));
  if (code.startsWith('SQLITE_BUSY')) {
    return new OpenRefused(
      `The database ${place} is locked by another program. Stop that program first`,
    );
  }
  if (/^SQLITE_(CANTOPEN|READONLY|IOERR|FULL|PERM|AUTH)/.test(code) && error instanceof Error) {
    return notWritable(place, error);
  }
  return error;
};

export const openWriter = async (home: string, migrations: Migration[]) => {
  refuseInterruptedRestore(home);
  const file = join(home, DATABASE);
  const isNew = !existsSync(file) || statSync(file).size === 0;
  const db = openFile(file, 200);
  try {
    if (!isNew) refuseIncompatible(db, file, migrations);
    setPragmas(db);
    const pending = migrations.filter(({ version }) => version > readSchemaVersion(db));
    const [first] = pending;
    const snapshot = first && !isNew ? await makeSnapshot(db, home, first.version) : null;
    for (const migration of pending) apply(db, migration);
    const opened: OpenReport = {
      isNew,
      schema: readSchemaVersion(db),
      snapshot,
      migrated: pending.map(({ version }) => version),
    };
    return { db, opened };
  } catch (error) {
    db.close();
    throw toOpenRefused(error, file);
  }
};

export const openReadOnly = (home: string): Database.Database => {
  const db = openFile(join(home, DATABASE), 1000);
  setPragmas(db);
  db.pragma('query_only = ON');
  return db;
};

export const readSchemaVersion = (db: Database.Database): number =>
  Number(db.pragma('user_version', { simple: true }));

const refuseIncompatible = (db: Database.Database, file: string, migrations: Migration[]): void => {
  const found = readSchema(db, file);
  const newest = migrations.at(-1)?.version ?? 0;
  if (found > newest) {
    throw new OpenRefused(
      `The database ${file} has schema ${found}, but this version supports only up to ${newest}. ` +
        'Nothing was changed. Run the newer version, or restore an older snapshot',
    );
  }
  // Before migrations, so that none runs with a foreign trigger.
  const made = migrations.filter(({ version }) => version <= found);
  const fault = findTriggerFault(db, made);
  if (fault !== null) throw new OpenRefused(triggerRefusal(file, fault));
};

const readSchema = (db: Database.Database, file: string): number => {
  const schema = readSchemaVersion(db);
  if (statSync(file).size >= QUICK_CHECK_BELOW_BYTES) return schema;
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new OpenRefused(damaged(file));
  return schema;
};

const damaged = (file: string): string =>
  `The database ${file} is damaged. Nothing was changed. Restore a backup, or a snapshot from the same folder`;

/** WAL reduces `synchronous` to NORMAL in better-sqlite3, so it is set again and checked. */
const setPragmas = (db: Database.Database): void => {
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('trusted_schema = OFF');
  db.pragma('wal_autocheckpoint = 0');
  db.pragma(`journal_size_limit = ${LOG_BYTES}`);
  db.pragma('cache_size = -8000');
  if (process.platform === 'darwin') {
    db.pragma('fullfsync = ON');
    db.pragma('checkpoint_fullfsync = ON');
  }
  if (db.pragma('synchronous', { simple: true }) !== 2) {
    throw new OpenRefused(
      'The installed SQLite build ignores synchronous=FULL, so a power failure could lose acknowledged writes. Reinstall Adjutant',
    );
  }
};

/**
 * Dropping a table would delete its rows and those that refer to them, so foreign keys are checked
 * at the end of a migration that replaces tables (SQLite, ALTER TABLE: Making Other Kinds Of Table
 * Schema Changes).
 */
const apply = (db: Database.Database, migration: Migration): void => {
  const { version, name, sql } = migration;
  const replacesTables = /\bDROP TABLE\b/i.test(sql);
  if (replacesTables) db.pragma('foreign_keys = OFF');
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(sql);
    if (replacesTables) refuseDanglingRows(db);
    db.pragma(`user_version = ${version}`);
    db.exec('COMMIT');
  } catch (error) {
    // SQLite itself rolls back if the disk is full.
    if (db.inTransaction) db.exec('ROLLBACK');
    if (/^SQLITE_(FULL|IOERR)/.test(getSqliteCode(error))) throw error;
    throw new OpenRefused(
      `Migration ${version} (${name}) failed and was rolled back. Start the previous version of Adjutant. Reason: ${String(error)}`,
    );
  } finally {
    db.pragma('foreign_keys = ON');
  }
};

const refuseDanglingRows = (db: Database.Database): void => {
  const [first] = db
    .prepare<[], { table: string; parent: string }>('PRAGMA foreign_key_check')
    .all();
  if (first)
    throw new Error(
      `the table ${first.table} has a row that refers to a missing row of the table ${first.parent}`,
    );
};
