import type Database from 'better-sqlite3';
import type { AuditHead } from '../engine/protocol.js';
import { BEGINNING, type MakeMac, macWith, WRITTEN } from './chain.js';

/** Of one step: a few milliseconds, after which the thread reads for others. */
const MOST = 500;

/** Where the chain does not hold. */
export interface AuditBreak {
  number: number;
  kind: 'changed' | 'missing';
}

/** What was found in one step; the next begins `after` its last. */
export interface AuditCheck {
  checked: number;
  /** How many of them are not what was written. */
  broken: number;
  first: AuditBreak | null;
  last: AuditHead | null;
  isEnd: boolean;
}

type StoredEntry = AuditHead & { written: Buffer };

/** Holds the next entries against the chain: bytes as they lie in the database, not as they read. */
export const checkAudit = (db: Database.Database, { auditKey }: { auditKey: Uint8Array }) => {
  const mac = macWith(auditKey);
  return ({ after }: { after: AuditHead | null }): AuditCheck => {
    const all = readAfter(db, after);
    const rows = all.filter(({ number }) => Number.isSafeInteger(number));
    let before = after ?? BEGINNING;
    const breaks: AuditBreak[] = [];
    for (const row of rows) {
      const found = breakOf(mac, before, row);
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
      isEnd: all.length < MOST || hasOdd,
    };
  };
};

/** From the very first, whatever its number: somebody may have put one before it. */
const readAfter = (db: Database.Database, after: AuditHead | null): StoredEntry[] => {
  const select = `SELECT number, mac, ${WRITTEN} AS written FROM audit`;
  const order = `ORDER BY number LIMIT ${MOST}`;
  return after === null
    ? db.prepare<[], StoredEntry>(`${select} ${order}`).all()
    : db.prepare<[number], StoredEntry>(`${select} WHERE number > ? ${order}`).all(after.number);
};

/** What follows a gap cannot be held against what is gone. */
const breakOf = (mac: MakeMac, before: AuditHead, row: StoredEntry): AuditBreak | null => {
  const due = before.number + 1;
  if (row.number > due) return { number: due, kind: 'missing' };
  const holds = row.number === due && mac(before.mac, due, row.written) === row.mac;
  return holds ? null : { number: row.number, kind: 'changed' };
};
