import type { Kysely } from 'kysely';
import type { Tables } from './tables.js';

type Facts = { db: Kysely<Tables> };

export const readFact = async ({ db }: Facts, name: string): Promise<string | undefined> => {
  const select = db.selectFrom('facts').select('value').where('name', '=', name);
  return (await select.executeTakeFirst())?.value;
};

export const writeFact = ({ db }: Facts, name: string, value: string) =>
  db
    .insertInto('facts')
    .values({ name, value })
    .onConflict((on) => on.column('name').doUpdateSet({ value }));
