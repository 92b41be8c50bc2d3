import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { renameDurably, syncToDisk } from '../../kernel/durable.js';
import { makePrivateFolder } from '../../kernel/private.js';
import { createNewestHeadReader } from '../audit/chain.js';
import { findContradictedHeads, headFileIn, headLine, readHeads } from '../audit/headlines.js';
import { type AuditHead, DATABASE } from '../engine/protocol.js';
import { readSchemaVersion, withDatabase } from './database.js';
import type { Snapshot } from './snapshots.js';

export interface SnapshotLoss {
  from: number;
  to: number;
  deliveries: number;
  audit: AuditHead | null;
}

export const factIn = (file: string, name: string): string | null =>
  withDatabase(file, { readonly: true }, (db) => {
    const find = db.prepare<[string], string>('SELECT value FROM facts WHERE name = ?').pluck();
    return find.get(name) ?? null;
  });

/** The caller holds the home's lock. */
export const compareWith = (home: string, { file }: Snapshot): SnapshotLoss =>
  withBoth(home, file, (db) => {
    const count = db.prepare<[], number>(`SELECT count(*) FROM deliveries AS d WHERE ${DROPPED}`);
    return {
      from: readSchemaVersion(db),
      to: Number(db.pragma('before.user_version', { simple: true })),
      deliveries: count.pluck().get() ?? 0,
      audit: createNewestHeadReader(db)(),
    };
  });

/**
 * Writes each dropped delivery as a line of JSON, with headers, original body and executions.
 * Durable on return.
 */
export const saveDroppedDeliveries = (home: string, { file }: Snapshot, to: string): void =>
  withBoth(home, file, (db) => {
    const out = openSync(to, 'wx', 0o600);
    try {
      for (const row of db.prepare<[], DroppedDelivery>(DROPPED_ROWS).iterate()) {
        writeSync(out, `${JSON.stringify(shown(row))}\n`);
      }
      fsyncSync(out);
    } finally {
      closeSync(out);
    }
  });

const DROPPED = 'NOT EXISTS (SELECT 1 FROM before.deliveries AS b WHERE b.id = d.id)';
const DROPPED_ROWS = `
  WITH runs AS MATERIALIZED (
    SELECT delivery_id, json_group_array(json_object(
      'id', id, 'hookId', hook_id, 'action', action, 'status', status)) AS list
    FROM executions WHERE delivery_id IS NOT NULL GROUP BY delivery_id)
  SELECT d.id, d.path, d.method, d.headers, d.body, d.event, d.sender_id, d.received_at, runs.list
  FROM deliveries AS d LEFT JOIN runs ON runs.delivery_id = d.id
  WHERE ${DROPPED} ORDER BY d.id`;

interface DroppedDelivery {
  id: string;
  path: string;
  method: string;
  headers: string;
  body: string;
  event: string | null;
  sender_id: string | null;
  received_at: string;
  list: string | null;
}

const shown = ({ sender_id, received_at, list, headers, ...row }: DroppedDelivery) => ({
  ...row,
  headers: JSON.parse(headers),
  senderId: sender_id,
  receivedAt: received_at,
  executions: list === null ? [] : JSON.parse(list),
});

const withBoth = <T>(home: string, file: string, work: (db: Database.Database) => T): T =>
  withDatabase(join(home, DATABASE), { timeout: 1000 }, (db) => {
    db.prepare('ATTACH ? AS before').run(file);
    return work(db);
  });

export const prepareRollback = (home: string, { file }: Snapshot): string => {
  const coming = join(home, `${DATABASE}.rollback`);
  for (const left of [coming, `${coming}-journal`]) rmSync(left, { force: true });
  copyFileSync(file, coming, constants.COPYFILE_EXCL);
  syncToDisk(coming);
  return coming;
};

/**
 * Replaces the database. The newer one stays in `aside` as one file. A database exists at every
 * moment. `audit.head` keeps the lines that the copy contains.
 */
export const restoreSnapshot = (home: string, coming: string, stamp: string): string => {
  const file = join(home, DATABASE);
  asOneFile(file);
  const folder = join(home, 'aside');
  makePrivateFolder(folder);
  const aside = join(folder, `adjutant-${stamp}.db`);
  backUpFile(file, aside);
  putHeadsBack(home, coming, join(folder, `audit-${stamp}.head`));
  renameDurably(coming, file);
  return aside;
};

const asOneFile = (file: string): void =>
  withDatabase(file, { timeout: 1000 }, (db) => {
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.pragma('journal_mode = DELETE');
  });

const backUpFile = (file: string, aside: string): void => {
  try {
    linkSync(file, aside);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (!/^(EPERM|ENOTSUP|ENOSYS|EMLINK)$/.test(String(error.code))) throw error;
    copyFileSync(file, aside, constants.COPYFILE_EXCL);
    syncToDisk(aside);
  }
  syncToDisk(dirname(aside));
};

const putHeadsBack = (home: string, coming: string, aside: string): void => {
  const file = headFileIn(home);
  if (!existsSync(file)) return;
  writeFileSync(aside, readFileSync(file), { mode: 0o600, flush: true });
  withDatabase(coming, { readonly: true }, (db) => {
    const heads = readHeads(home);
    const gone = new Set(findContradictedHeads(db, heads));
    const known = heads.filter((head) => !gone.has(head));
    // An empty file would look like a removed one.
    const text = (known.length > 0 ? known : lastOfBoth(db)).map(headLine);
    writeFileSync(`${file}.new`, text.join(''), { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  });
};

/** Last entry of the snapshot. The newest entry of the copy records the rollback. */
const lastOfBoth = (db: Database.Database): AuditHead[] =>
  db
    .prepare<[], AuditHead>('SELECT number, mac FROM audit ORDER BY number DESC LIMIT 1 OFFSET 1')
    .all();
