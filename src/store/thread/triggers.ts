import Database from 'better-sqlite3';
import type { MadeTrigger, Migration } from '../engine/protocol.js';

/**
 * Returns the fault and the remedy if the triggers of a database differ from those that the
 * migrations make at its schema, otherwise null. Somebody who can write the file could add a
 * trigger that swallows an entry of the audit log, or drop those that protect the log.
 */
export const faultOfTriggers = (
  db: Database.Database,
  { file, migrations }: { file: string; migrations: Migration[] },
): string | null => {
  const found = triggersOf(db);
  const due = migrations.at(-1)?.triggers ?? triggersMadeBy(migrations);
  const foreign = found.find((one) => !due.some((own) => own.name === one.name));
  if (foreign) return sayForeign(file, foreign);
  for (const own of due) {
    const there = found.find((one) => one.name === own.name);
    if (!there) return sayMissing(file, own);
    if (there.sql !== own.sql) return sayChanged(file, own);
  }
  return null;
};

const triggersOf = (db: Database.Database): MadeTrigger[] =>
  db
    .prepare<[], MadeTrigger>(
      `SELECT name, tbl_name AS "table", sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name`,
    )
    .all()
    .map(({ sql, ...one }) => ({ ...one, sql: sql.replaceAll(/\s+/g, ' ').trim() }));

/**
 * Returns the triggers as SQLite stores them after all migrations, because a later one may drop
 * what an earlier one made.
 */
export const triggersMadeBy = (migrations: Migration[]): MadeTrigger[] => {
  if (!migrations.some(({ sql }) => /\bTRIGGER\b/i.test(sql))) return [];
  const db = new Database(':memory:');
  try {
    for (const { sql } of migrations) db.exec(sql);
    return triggersOf(db);
  } finally {
    db.close();
  }
};

const KEEP = 'Nothing was changed. Find out who did it and keep a copy of the file';

const sayForeign = (file: string, { name, table }: MadeTrigger): string =>
  `The database ${file} has a trigger ${shown(name)} on the table ${shown(table)} that Adjutant ` +
  `did not make: it may hide or change what is written. ${KEEP}. Then remove the trigger` +
  (PLAIN.test(name) ? `: sqlite3 ${file} 'DROP TRIGGER ${name}'` : ', or restore a backup');

const sayMissing = (file: string, { name, table, sql }: MadeTrigger): string =>
  `The database ${file} lacks the trigger ${name} on the table ${table}: somebody removed it. ` +
  `${KEEP}. Then restore a backup, or make the trigger again: sqlite3 ${file} "${sql}"`;

const sayChanged = (file: string, { name, table, sql }: MadeTrigger): string =>
  `The trigger ${name} on the table ${table} of the database ${file} is not the one that Adjutant ` +
  `made: somebody changed it. ${KEEP}. Then restore a backup, or make the trigger again: ` +
  `sqlite3 ${file} "DROP TRIGGER ${name}; ${sql}"`;

/**
 * Names that are safe to show on a terminal and to copy from there. The name may be chosen by an
 * attacker.
 */
const PLAIN = /^\w{1,100}$/;
const shown = (name: string): string =>
  PLAIN.test(name) ? name : JSON.stringify(name.replaceAll(/[^ -~]/g, '?').slice(0, 100));
