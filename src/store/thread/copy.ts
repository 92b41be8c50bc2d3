import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makePrivate } from '../../kernel/private.js';
import { DATABASE } from '../engine/protocol.js';
import { schemaOf, withDatabase } from './database.js';

const PAGES_A_STEP = 1000;
const FIRST_WITH_DELIVERIES = 30;

export interface NewestDelivery {
  id: string;
  /** The time in ISO 8601. */
  receivedAt: string;
}

/** Facts about the contents of a database file. */
export interface DatabaseFacts {
  schema: number;
  newestDelivery: NewestDelivery | null;
}

/**
 * Copies the current database of a home into one file, by the online backup API. One read
 * transaction lasts for the whole copy: the copy has the state of one moment, and commits continue
 * meanwhile without restarting it. To be run in a thread of its own. `told` may throw to end it.
 */
export const copyDatabase = async (
  home: string,
  to: string,
  progressed: (done: number, total: number) => void,
): Promise<DatabaseFacts> => {
  const db = new Database(join(home, DATABASE), { readonly: true, timeout: 1000 });
  try {
    db.exec('BEGIN');
    // The transaction has its snapshot from the first read on.
    schemaOf(db);
    const pageBytes = Number(db.pragma('page_size', { simple: true }));
    makePrivate(to);
    await db.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        progressed((totalPages - remainingPages) * pageBytes, totalPages * pageBytes);
        return PAGES_A_STEP;
      },
    });
  } finally {
    db.close();
  }
  return asOneFile(to);
};

/**
 * Makes the database one file, without a write-ahead log beside it. Returns facts about its
 * contents.
 */
const asOneFile = (file: string): DatabaseFacts =>
  withDatabase(file, {}, (db) => {
    db.pragma('journal_mode = DELETE');
    const schema = schemaOf(db);
    if (schema < FIRST_WITH_DELIVERIES) return { schema, newestDelivery: null };
    const newest = db
      .prepare<[], NewestDelivery>(
        'SELECT id, received_at AS receivedAt FROM deliveries ORDER BY id DESC LIMIT 1',
      )
      .get();
    return { schema, newestDelivery: newest ?? null };
  });

/**
 * Returns the faults of a database file in SQLite's own words, or an empty list if it is intact.
 */
export const integrityFaults = (file: string): string[] => {
  const db = new Database(file, { readonly: true });
  try {
    const integrity = db.prepare<[], string>('PRAGMA integrity_check(3)').pluck().all();
    const orphans = db.prepare<[], { table: string }>('PRAGMA foreign_key_check').all();
    return [
      ...integrity.filter((line) => line !== 'ok'),
      ...orphans.slice(0, 3).map(({ table }) => `a row of ${table} refers to a missing row`),
    ];
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    return [error.message];
  } finally {
    db.close();
  }
};
