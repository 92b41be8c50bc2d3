import { type RawBuilder, sql } from 'kysely';

/**
 * Rows that a person may see: today the person's own. Every query on behalf of a person has it.
 * `table`: name or alias, if there are several.
 */
export const visibleTo = (userId: string, table?: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(table === undefined ? 'user_id' : `${table}.user_id`)} = ${userId}`;
