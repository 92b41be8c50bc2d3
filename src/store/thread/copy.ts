import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makePrivate } from '../../kernel/private.js';
import { DATABASE } from '../engine/protocol.js';
import { readSchemaVersion, withDatabase } from './database.js';

const PAGES_A_STEP = 1000;
const FIRST_WITH_DELIVERIES = 30;

export interface NewestDelivery {
  id: string;
  receivedAt: string;
}

export interface DatabaseFacts {
  schema: number;
  newestDelivery: NewestDelivery | null;
}

/**
 * Online backup in one read transaction, so that the copy is consistent and commits continue. Run
 * it in a separate thread. `told` may throw to stop it.
 */
export const copyDatabase = async (
  home: string,
  to: string,
  progressed: (done: number, total: number) => void,
): Promise<DatabaseFacts> => {
  const db = new Database(join(home, DATABASE), { readonly: true, timeout: 1000 });
  try {
    db.exec('BEGIN');
    // The snapshot starts with the first read.
    readSchemaVersion(db);
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

const asOneFile = (file: string): DatabaseFacts =>
  withDatabase(file, {}, (db) => {
    db.pragma('journal_mode = DELETE');
    const schema = readSchemaVersion(db);
    if (schema < FIRST_WITH_DELIVERIES) return { schema, newestDelivery: null };
    const newest = db
      .prepare<[], NewestDelivery>(
        'SELECT id, received_at AS receivedAt FROM deliveries ORDER BY id DESC LIMIT 1',
      )
      .get();
    return { schema, newestDelivery: newest ?? null };
  });

/** In SQLite's words. Empty if the file is intact. */
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
