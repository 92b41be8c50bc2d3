import type Database from 'better-sqlite3';
import type { AuditHead } from '../engine/protocol.js';
import { CHAIN_START, CHAINED_ROW_SQL, type MakeMac, macWith } from './chain.js';

/** Entries per step. A step takes a few milliseconds, then the thread serves other reads. */
const MAX_ENTRIES = 500;

export interface AuditBreak {
  number: number;
  kind: 'changed' | 'missing';
}

export interface AuditCheck {
  checked: number;
  broken: number;
  first: AuditBreak | null;
  last: AuditHead | null;
  isEnd: boolean;
}

type StoredEntry = AuditHead & { written: Buffer };

/** Checks the stored bytes, not the decoded values. */
export const checkAudit = (db: Database.Database, { auditKey }: { auditKey: Uint8Array }) => {
  const mac = macWith(auditKey);
  return ({ after }: { after: AuditHead | null }): AuditCheck => {
    const all = readAfter(db, after);
    const rows = all.filter(({ number }) => Number.isSafeInteger(number));
    let before = after ?? CHAIN_START;
    const breaks: AuditBreak[] = [];
    for (const row of rows) {
      const found = findChainBreak(mac, before, row);
      if (found) breaks.push(found);
      before = { number: row.number, mac: row.mac };
    }
    const hasOdd = rows.length < all.length;
    if (hasOdd) breaks.push({ number: before.number + 1, kind: 'missing' });
    return {
      checked: rows.length,
      broken: breaks.filter(({ kind }) => kind === 'changed').length,
      first: breaks[0] ?? null,
      last: rows.length > 0 ? before : after,
      isEnd: all.length < MAX_ENTRIES || hasOdd,
    };
  };
};

/** Starts at the very first entry, because one may have been inserted before it. */
const readAfter = (db: Database.Database, after: AuditHead | null): StoredEntry[] => {
  const select = `SELECT number, mac, ${CHAINED_ROW_SQL} AS written FROM audit`;
  const order = `ORDER BY number LIMIT ${MAX_ENTRIES}`;
  return after === null
    ? db.prepare<[], StoredEntry>(`${select} ${order}`).all()
    : db.prepare<[number], StoredEntry>(`${select} WHERE number > ? ${order}`).all(after.number);
};

/** A row after a gap cannot be verified, because its predecessor is missing. */
const findChainBreak = (mac: MakeMac, before: AuditHead, row: StoredEntry): AuditBreak | null => {
  const due = before.number + 1;
  if (row.number > due) return { number: due, kind: 'missing' };
  const holds = row.number === due && mac(before.mac, due, row.written) === row.mac;
  return holds ? null : { number: row.number, kind: 'changed' };
};
