import { type RawBuilder, sql } from 'kysely';

/**
 * Rows that belong to a user, or to an organization for which a member calls. Every query on behalf of
 * a caller has it.
 * `table`: name or alias, if there are several.
 */
export const visibleTo = (userId: string, table?: string): RawBuilder<boolean> =>
  sql<boolean>`${ownerIn(table)} = ${userId}`;

const ownerIn = (table?: string) => sql.ref(table === undefined ? 'user_id' : `${table}.user_id`);

/**
 * Rows on which a user decides: the own ones, and those of approved organizations in which the user
 * is an owner or admin.
 */
export const decidableBy = (userId: string, table?: string): RawBuilder<boolean> =>
  sql<boolean>`${ownerIn(table)} IN (SELECT ${userId} UNION ALL SELECT m.org_id
    FROM org_members AS m JOIN orgs AS o ON o.id = m.org_id
    WHERE m.user_id = ${userId} AND m.role <> 'member' AND o.approved_at IS NOT NULL)`;

/** False for the accounts of organizations, which own resources. */
export const isPerson = (table = 'users'): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`${table}.id`)} NOT LIKE 'org\\_%' ESCAPE '\\'`;
