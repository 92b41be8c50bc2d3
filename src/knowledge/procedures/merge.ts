import type Database from 'better-sqlite3';
import { ownerTables } from './searchdb.js';

const STEP_MS = 100;
/** Pages of 4 KiB that are written between two checks of the time. */
const PAGES_AT_ONCE = 250;
/**
 * Words are merged after this number of new chunks, if these are at least a quarter of the owner's
 * chunks. So the work is proportional to the written data.
 */
const MIN_CHUNKS = 2000;

interface Unmerged {
  id: number;
  made: number;
}

/**
 * Merges the index segments of each owner for a limited time. Searches in one segment take four
 * fifths of the time (SQLite, FTS5: The 'merge' Command). Returns true if more is left.
 */
export const mergeWords = (search: Database.Database): boolean => {
  const next = search.prepare<[], Unmerged>(
    `SELECT id, made FROM owners
      WHERE made - merged >= ${MIN_CHUNKS} AND (made - merged) * 4 >= chunks LIMIT 1`,
  );
  const until = performance.now() + STEP_MS;
  for (;;) {
    const owner = next.get();
    if (!owner) return false;
    if (performance.now() >= until) return true;
    if (mergeSome(search, owner.id)) continue;
    search.prepare('UPDATE owners SET merged = ? WHERE id = ?').run(owner.made, owner.id);
  }
};

const mergeSome = (search: Database.Database, owner: number): boolean => {
  const { words } = ownerTables(owner);
  const changes = search.prepare<[], number>('SELECT total_changes()').pluck();
  const before = changes.get() ?? 0;
  // A negative number starts a merge of all segments. It changes one row if nothing is left.
  search.prepare(`INSERT INTO ${words} (${words}, rank) VALUES ('merge', ?)`).run(-PAGES_AT_ONCE);
  return (changes.get() ?? 0) - before >= 2;
};
