import type Database from 'better-sqlite3';

/** What was found of one table; the next step is `after` it. Null: there is none left. */
export interface TableCheck {
  table: string;
  /** As SQLite says it; empty where the table is whole. */
  problem: string | null;
}

/**
 * Looks through one table and its indexes, the next by name. One a step, so that the thread reads
 * for others in between.
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
