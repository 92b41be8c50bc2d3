import { type RawBuilder, sql } from 'kysely';

/**
 * Rows that belong to a user, or to an organization for which a member calls. Every query on behalf of
 * a caller has it.
 * `table`: name or alias, if there are several.
 */
export const visibleTo = (userId: string, table?: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(table === undefined ? 'user_id' : `${table}.user_id`)} = ${userId}`;

/** False for the accounts of organizations, which own resources. */
export const isPerson = (table = 'users'): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`${table}.id`)} NOT LIKE 'org\\_%' ESCAPE '\\'`;
