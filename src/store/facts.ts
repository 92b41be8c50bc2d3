import type { Kysely } from 'kysely';
import type { Tables } from './tables.js';

type Facts = { db: Kysely<Tables> };

/** Returns a single value of the installation by its name; undefined if there is none. */
export const readFact = async ({ db }: Facts, name: string): Promise<string | undefined> => {
  const select = db.selectFrom('facts').select('value').where('name', '=', name);
  return (await select.executeTakeFirst())?.value;
};

/** Sets a single value of the installation, in place of an earlier one. */
export const writeFact = ({ db }: Facts, name: string, value: string) =>
  db
    .insertInto('facts')
    .values({ name, value })
    .onConflict((on) => on.column('name').doUpdateSet({ value }));
