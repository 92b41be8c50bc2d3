import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('.', import.meta.url);
/** `0270_logins.sql`: the version of the schema that it makes, and a name. */
const FILE = /^(\d{4})_(\w+)\.sql$/;

const read = (file: string) => {
  const [, version, name = ''] = FILE.exec(file) ?? [];
  if (version === undefined) return [];
  return [{ version: Number(version), name, sql: readFileSync(new URL(file, FOLDER), 'utf8') }];
};

/**
 * Every step of the schema, oldest first: the SQL files of this folder. A landed one is never
 * changed, not even its spaces: the database keeps the text of triggers, which is compared.
 */
export const migrations = readdirSync(FOLDER).sort().flatMap(read);
