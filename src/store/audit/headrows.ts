import type Database from 'better-sqlite3';
import { iso, systemClock } from '../../kernel/clock.js';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { mint } from '../../kernel/ids.js';
import { appendAudit, createNewestHeadReader, isNewestValid } from './chain.js';

/** A log without a head file got one. Earlier removals cannot be detected. */
const ADOPTED = 'audit.head-adopted';
/** A head file was missing or empty. */
const LOST = 'audit.head-lost';
const DAEMON = 'daemon';

export interface LostHead {
  number: number;
  file: string;
}

export const headRows = (db: Database.Database, keys: { auditKey: Uint8Array }) => {
  const append = db.transaction(appendAudit(db, keys));
  const holds = isNewestValid(db, keys);
  const last = db
    .prepare<[], string>(
      `SELECT action || ' ' || coalesce(data, '') FROM audit ORDER BY number DESC LIMIT 1`,
    )
    .pluck();
  const record = (action: string, file: string, outcome: AuditRecord['outcome']): void => {
    const data = { file };
    // A crash happened after the entry and before the file was written.
    if (last.get() === `${action} ${JSON.stringify(data)}`) return;
    // With a wrong master key no entry is written, and the start fails.
    if (!holds())
      throw new Error('the newest entry of the audit log is invalid. Run: adjutant audit verify');
    append(buildAuditEntry({ action, outcome, data }));
  };
  return {
    newest: createNewestHeadReader(db),
    adopted: (file: string): void => record(ADOPTED, file, 'ok'),
    lost: (file: string): void => record(LOST, file, 'failed'),
  };
};

export type HeadRows = ReturnType<typeof headRows>;

export const lostHead = (db: Database.Database) => {
  const find = db.prepare<[string], { number: number; data: string }>(
    'SELECT number, data FROM audit WHERE action = ? ORDER BY number LIMIT 1',
  );
  return (_: undefined): LostHead | null => {
    const found = find.get(LOST);
    return found ? { number: found.number, file: fileIn(found.data) } : null;
  };
};

const fileIn = (data: string): string => /^\{"file":"([^"\\]*)"\}$/.exec(data)?.[1] ?? 'audit.head';

const buildAuditEntry = (of: Pick<AuditRecord, 'action' | 'outcome' | 'data'>): AuditRecord => {
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
