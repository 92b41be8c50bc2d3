import type Database from 'better-sqlite3';

/** The result for one table. The next step is `after` it. Null: there is no further table. */
export interface TableCheck {
  table: string;
  /** SQLite's message, or null if the table is intact. */
  problem: string | null;
}

/**
 * Checks one table and its indexes, the next by name. There is one table per step, so that the
 * thread serves other reads in between.
 */
export const checkTable = (db: Database.Database) => {
  const next = db
    .prepare<[string], string>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name > ? ORDER BY name LIMIT 1",
    )
    .pluck();
  return ({ after }: { after: string }): TableCheck | null => {
    const table = next.get(after);
    if (table === undefined) return null;
    const found = db.pragma(`quick_check("${table.replaceAll('"', '""')}")`, { simple: true });
    return { table, problem: found === 'ok' ? null : String(found) };
  };
};
