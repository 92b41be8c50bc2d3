import type Database from 'better-sqlite3';
import { iso, systemClock } from '../../kernel/clock.js';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { mint } from '../../kernel/ids.js';
import type { AuditHead } from '../engine/protocol.js';
import { appendAudit, newestHolds, newestOf } from './chain.js';

/** A log that had no file of heads got one: nobody can tell what was cut before. */
const ADOPTED = 'audit.head-adopted';
/** A file of heads was gone, or empty, that had been begun. */
const LOST = 'audit.head-lost';
/** What the daemon itself does. */
const DAEMON = 'daemon';

/** What the log itself says of the files of its heads. */
export interface HeadRows {
  newest(): AuditHead | null;
  adopted(file: string): void;
  lost(file: string): void;
}

/** An entry that says that a file of heads was lost. */
export interface LostHead {
  number: number;
  file: string;
}

export const headRows = (db: Database.Database, keys: { auditKey: Uint8Array }): HeadRows => {
  const append = db.transaction(appendAudit(db, keys));
  const holds = newestHolds(db, keys);
  const last = db
    .prepare<[], string>(
      `SELECT action || ' ' || coalesce(data, '') FROM audit ORDER BY number DESC LIMIT 1`,
    )
    .pluck();
  const record = (action: string, file: string, outcome: AuditRecord['outcome']): void => {
    const data = { file };
    // A crash came between the entry and the file.
    if (last.get() === `${action} ${JSON.stringify(data)}`) return;
    // Under a wrong master key no entry is written: the start ends with it.
    if (!holds()) throw new Error('the newest entry of the audit log does not hold');
    append(entryOf({ action, outcome, data }));
  };
  return {
    newest: newestOf(db),
    adopted: (file) => record(ADOPTED, file, 'ok'),
    lost: (file) => record(LOST, file, 'failed'),
  };
};

/** The oldest entry that says so; null where there is none. */
export const lostHead = (db: Database.Database) => {
  const find = db.prepare<[string], { number: number; data: string }>(
    'SELECT number, data FROM audit WHERE action = ? ORDER BY number LIMIT 1',
  );
  return (_: undefined): LostHead | null => {
    const found = find.get(LOST);
    return found ? { number: found.number, file: fileIn(found.data) } : null;
  };
};

/** Of a row that may have been edited. */
const fileIn = (data: string): string => /^\{"file":"([^"\\]*)"\}$/.exec(data)?.[1] ?? 'audit.head';

const entryOf = (of: Pick<AuditRecord, 'action' | 'outcome' | 'data'>): AuditRecord => {
  const now = systemClock.now();
  return {
    id: mint('audit', now),
    at: iso(now),
    actorId: DAEMON,
    impersonatorId: null,
    target: null,
    ip: 'local',
    requestId: mint('request', now),
    ...of,
  };
};
