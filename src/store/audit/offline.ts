import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import {
  type AuditHead,
  DATABASE,
  homeInUse,
  OpenRefused,
  type ThreadOptions,
} from '../engine/protocol.js';
import { type AuditCheck, checkAudit } from './check.js';
import { contradictedHeads, type HeadsFound, type HeadsPlace } from './headcheck.js';
import { type LostHead, lostHead } from './headrows.js';
import { auditKeyIn } from './key.js';

export interface AuditReader {
  checkAudit(input: { after: AuditHead | null }): Promise<AuditCheck>;
  contradictedHeads(input: HeadsPlace): Promise<HeadsFound>;
  lostHead(): Promise<LostHead | null>;
}

type StoppedHome = Pick<ThreadOptions, 'home' | 'auditKey' | 'comingAuditKey' | 'auditHeads'>;

/** Reads a copy, so that nothing in the home is written. Throws OpenRefused. */
export const readStoppedLog = async <T>(
  of: StoppedHome,
  work: (reader: AuditReader) => Promise<T>,
): Promise<T> => {
  const { home } = of;
  if (!existsSync(join(home, DATABASE)))
    throw new OpenRefused(`There is no database in ${home}. Pass the data folder with --home`);
  const release = holdStopped(home);
  const scratch = mkdtempSync(join(tmpdir(), 'adjutant-audit-'));
  try {
    for (const name of [DATABASE, `${DATABASE}-wal`]) {
      if (!existsSync(join(home, name))) continue;
      copyFileSync(join(home, name), join(scratch, name), constants.COPYFILE_FICLONE);
    }
    return await readCopy(join(scratch, DATABASE), of, work);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    release();
  }
};

const readCopy = async <T>(
  file: string,
  of: StoppedHome,
  work: (reader: AuditReader) => Promise<T>,
): Promise<T> => {
  const db = new Database(file);
  try {
    const check = checkAudit(db, { auditKey: auditKeyIn(db, of) });
    const contradicted = contradictedHeads(db, of);
    const lost = lostHead(db);
    return await work({
      checkAudit: async (input) => check(input),
      contradictedHeads: async (input) => contradicted(input),
      lostHead: async () => lost(undefined),
    });
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new OpenRefused(`The audit log of ${of.home} cannot be read: ${error.message}`);
  } finally {
    db.close();
  }
};

/** Prevents a daemon from starting, without writing. Throws OpenRefused while one runs. */
const holdStopped = (home: string): (() => void) => {
  const file = join(home, 'lock.db');
  if (!existsSync(file)) return () => undefined;
  const lock = new Database(file, { readonly: true, timeout: 0 });
  try {
    lock.exec('BEGIN');
    lock.prepare('SELECT count(*) FROM sqlite_master').get();
    return () => lock.close();
  } catch (error) {
    lock.close();
    const isBusy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
    throw isBusy ? homeInUse(home) : error;
  }
};
