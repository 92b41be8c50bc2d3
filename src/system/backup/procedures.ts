import type Database from 'better-sqlite3';

/** Null if there is no further table. The next step is `after` this table. */
export interface TableCheck {
  table: string;
  /** The message of SQLite; null if the table is intact. */
  problem: string | null;
}

/** One table with its indexes per step, so that the thread serves other reads in between. */
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
