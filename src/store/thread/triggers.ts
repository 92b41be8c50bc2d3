import Database from 'better-sqlite3';
import { shellWord } from '../../kernel/shellword.js';
import type { Migration, SchemaTrigger } from '../engine/protocol.js';

interface TriggerFault {
  /** Continues a sentence about the database: `lacks the trigger …`. */
  fault: string;
  remedy(file: string): string;
}

/**
 * Whoever can write the file could add a trigger that swallows audit entries, or drop those that
 * protect the log.
 */
export const findTriggerFault = (
  db: Database.Database,
  migrations: Migration[],
): TriggerFault | null => {
  const found = listTriggers(db);
  const due = migrations.at(-1)?.triggers ?? triggersOfMigrations(migrations);
  const foreign = found.find((one) => !due.some((own) => own.name === one.name));
  if (foreign) return foreignTrigger(foreign);
  for (const own of due) {
    const there = found.find((one) => one.name === own.name);
    if (!there) return missingTrigger(own);
    if (there.sql !== own.sql) return changedTrigger(own);
  }
  return null;
};

export const triggerRefusal = (file: string, { fault, remedy }: TriggerFault): string =>
  `The database ${file} ${fault}. Nothing was changed. Find out who changed it and keep a copy of the ` +
  `file. Then ${remedy(shellWord(file))}`;

const listTriggers = (db: Database.Database): SchemaTrigger[] =>
  db
    .prepare<[], SchemaTrigger>(
      `SELECT name, tbl_name AS "table", sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name`,
    )
    .all()
    .map(({ sql, ...one }) => ({ ...one, sql: sql.replaceAll(/\s+/g, ' ').trim() }));

/** As stored by SQLite after all migrations, because a later one may drop earlier triggers. */
export const triggersOfMigrations = (migrations: Migration[]): SchemaTrigger[] => {
  if (!migrations.some(({ sql }) => /\bTRIGGER\b/i.test(sql))) return [];
  const db = new Database(':memory:');
  try {
    for (const { sql } of migrations) db.exec(sql);
    return listTriggers(db);
  } finally {
    db.close();
  }
};

const foreignTrigger = ({ name, table }: SchemaTrigger): TriggerFault => ({
  fault:
    `has an unknown trigger ${shown(name)} on the table ${shown(table)}, which may hide or change ` +
    'writes',
  remedy: (file) =>
    PLAIN.test(name)
      ? `remove the trigger: sqlite3 ${file} 'DROP TRIGGER ${name}'`
      : 'remove the trigger, or restore a backup',
});

const missingTrigger = ({ name, table, sql }: SchemaTrigger): TriggerFault => ({
  fault: `lacks the trigger ${name} on the table ${table}`,
  remedy: (file) => `restore a backup, or create the trigger again: sqlite3 ${file} "${sql}"`,
});

const changedTrigger = ({ name, table, sql }: SchemaTrigger): TriggerFault => ({
  fault: `has a modified trigger ${name} on the table ${table}`,
  remedy: (file) =>
    `restore a backup, or create the trigger again: sqlite3 ${file} "DROP TRIGGER ${name}; ${sql}"`,
});

/** Safe to show and copy in a terminal. An attacker may have chosen the name. */
const PLAIN = /^\w{1,100}$/;
const shown = (name: string): string =>
  PLAIN.test(name) ? name : JSON.stringify(name.replaceAll(/[^ -~]/g, '?').slice(0, 100));
