import { existsSync, readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('.', import.meta.url);
/** `0270_logins.sql`: the version of the schema that it makes, and a name. */
const FILE = /^(\d{4})_(\w+)\.sql$/;

/** The triggers of the newest schema, which the build writes: to make them takes 80 ms of each start. */
export const TRIGGERS_FILE = new URL('./triggers.json', FOLDER);
const made: { version: number; triggers: { name: string; table: string; sql: string }[] } | null =
  existsSync(TRIGGERS_FILE) ? JSON.parse(readFileSync(TRIGGERS_FILE, 'utf8')) : null;

const read = (file: string) => {
  const [, digits, name = ''] = FILE.exec(file) ?? [];
  if (digits === undefined) return [];
  const version = Number(digits);
  const sql = readFileSync(new URL(file, FOLDER), 'utf8');
  return [{ version, name, sql, ...(made?.version === version && { triggers: made.triggers }) }];
};

/**
 * Every step of the schema, oldest first: the SQL files of this folder. A landed one is never
 * changed, not even its spaces: the database keeps the text of triggers, which is compared.
 */
export const migrations = readdirSync(FOLDER).sort().flatMap(read);
