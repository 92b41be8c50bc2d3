import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import Database from 'better-sqlite3';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { type AuditHead, type StatementResult, Unavailable } from '../engine/protocol.js';

const CHAINED = [
  'id',
  'at',
  'actor_id',
  'impersonator_id',
  'action',
  'target',
  'outcome',
  'ip',
  'request_id',
  'data',
] as const;
type ChainedColumn = (typeof CHAINED)[number];

/** Each column follows its length (a netstring), so that no two rows give the same bytes. */
export const CHAINED_ROW_SQL = `CAST(${CHAINED.map(
  (name) => `coalesce(';' || length(CAST(${name} AS BLOB)) || ':' || ${name}, ';-')`,
).join(' || ')} AS BLOB)`;

export const CHAIN_START: AuditHead = { number: 0, mac: '0'.repeat(64) };

/**
 * HMAC-SHA256 (RFC 2104) over the previous MAC, the number and the row, so that each MAC covers all
 * earlier rows.
 */
export const macWith = (key: Uint8Array): MakeMac => {
  const secret: KeyObject = createSecretKey(key);
  return (before, number, written) =>
    createHmac('sha256', secret).update(`${before}:${number}`).update(written).digest('hex');
};
export type MakeMac = (before: string, number: number, written: Buffer) => string;

const SWALLOWED =
  'The audit log is not writable: the database did not store the entry. A trigger may prevent it';

/**
 * Reads the head each time, because earlier entries may have been rolled back. Throws Unavailable
 * if the row cannot be written, so that the recorded effect does not happen either.
 */
export const appendAudit = (db: Database.Database, { auditKey }: { auditKey: Uint8Array }) => {
  const mac = macWith(auditKey);
  const head = createNewestHeadReader(db);
  const names = CHAINED.map((name) => `@${name} AS ${name}`);
  const write = db
    .prepare<ChainedRow, Buffer>(`SELECT ${CHAINED_ROW_SQL} FROM (SELECT ${names.join(', ')})`)
    .pluck();
  const insert = db.prepare<ChainedRow & AuditHead>(
    `INSERT INTO audit (number, ${CHAINED.join(', ')}, mac)
      VALUES (@number, ${CHAINED.map((name) => `@${name}`).join(', ')}, @mac)`,
  );
  return (entry: AuditRecord): StatementResult => {
    const row = buildChainedRow(entry);
    try {
      const before = head() ?? CHAIN_START;
      const number = before.number + 1;
      const written = write.get(row) ?? Buffer.alloc(0);
      const made = { number, mac: mac(before.mac, number, written) };
      const { changes } = insert.run({ ...row, ...made });
      // A trigger may discard or delete the row.
      if (changes !== 1 || head()?.mac !== made.mac) throw new Unavailable(SWALLOWED);
      return { rows: [], changes };
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
      throw new Unavailable(`The audit log is not writable: ${error.message}`);
    }
  };
};

export const isNewestValid = (db: Database.Database, { auditKey }: { auditKey: Uint8Array }) => {
  const mac = macWith(auditKey);
  const newest = db.prepare<[], AuditHead & { written: Buffer }>(
    `SELECT number, mac, ${CHAINED_ROW_SQL} AS written FROM audit ORDER BY number DESC LIMIT 1`,
  );
  const macAt = db.prepare<[number], string>('SELECT mac FROM audit WHERE number = ?').pluck();
  return (): boolean => {
    const row = newest.get();
    if (!row) return true;
    const before = macAt.get(row.number - 1) ?? CHAIN_START.mac;
    return mac(before, row.number, row.written) === row.mac;
  };
};

export const createNewestHeadReader = (db: Database.Database): (() => AuditHead | null) => {
  const newest = db.prepare<[], AuditHead>(
    'SELECT number, mac FROM audit ORDER BY number DESC LIMIT 1',
  );
  return () => newest.get() ?? null;
};

type ChainedRow = Record<ChainedColumn, string | null>;

const buildChainedRow = (entry: AuditRecord): ChainedRow => ({
  id: entry.id,
  at: entry.at,
  actor_id: entry.actorId,
  impersonator_id: entry.impersonatorId,
  action: entry.action,
  target: entry.target,
  outcome: entry.outcome,
  ip: entry.ip,
  request_id: entry.requestId,
  data: entry.data === null ? null : JSON.stringify(entry.data),
});
