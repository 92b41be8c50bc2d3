import type Database from 'better-sqlite3';
import { ownerTables } from './searchdb.js';

/** The time after which a step ends and lets others have the thread, in milliseconds. */
const STEP_MS = 100;
/** Ours: the pages of 4 KiB that are written between two looks at the clock. */
const PAGES_AT_ONCE = 250;
/**
 * Ours: words are merged when so many chunks were written since, and at least a quarter of those that
 * the owner has. So the work stays in proportion to what was written.
 */
const MIN_CHUNKS = 2000;

interface Unmerged {
  id: number;
  made: number;
}

/**
 * Merges, for a moment, the segments in which words were written into one per owner, which a search
 * reads in four fifths of the time (SQLite, FTS5: The 'merge' Command). Returns true if more is left.
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

/** Merges some pages. Returns false when all segments are one. */
const mergeSome = (search: Database.Database, owner: number): boolean => {
  const { words } = ownerTables(owner);
  const changes = search.prepare<[], number>('SELECT total_changes()').pluck();
  const before = changes.get() ?? 0;
  // A negative number begins a merge of all segments. It changes one row if nothing is left.
  search.prepare(`INSERT INTO ${words} (${words}, rank) VALUES ('merge', ?)`).run(-PAGES_AT_ONCE);
  return (changes.get() ?? 0) - before >= 2;
};
