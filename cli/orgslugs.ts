import { ApiError } from '../src/client/errors.js';
import type { Client } from '../src/client/index.js';
import { type TableColumn, valueAt } from './columns.js';
import type { Context } from './command.js';
import { everyPage } from './pages.js';
import { plainText } from './text.js';

const FIELD = 'orgId';

/** Slugs of the user's organizations by ID. Empty for a token that may not read them. */
export const orgSlugs = async (client: Client): Promise<Map<string, string>> => {
  try {
    const { orgs } = await everyPage('orgs', (cursor) =>
      client.orgs.list({ query: { limit: 200, ...cursor } }),
    );
    return new Map(orgs.map(({ id, slug }) => [id, slug]));
  } catch (error) {
    if (error instanceof ApiError) return new Map();
    throw error;
  }
};

/** Adds a column with the organization of the rows, which a terminal shows only if a row has one. */
export const withOrgColumn = async <T extends object>(
  context: Context,
  rows: T[],
  columns: TableColumn<T>[],
): Promise<TableColumn<T>[]> => {
  if (!rows.some((row) => FIELD in row)) return columns;
  const { out } = context;
  const isNeeded =
    (out.format === 'table' || out.isChosen) && rows.some((row) => valueAt(row, FIELD));
  const slugs = isNeeded ? await orgSlugs(await context.client()) : new Map();
  const org: TableColumn<T> = {
    name: 'org',
    value: (row) => {
      const id = plainText(valueAt(row, FIELD));
      return slugs.get(id) ?? id;
    },
    only: 'table',
    isRare: true,
    replaces: FIELD,
  };
  // A narrow terminal drops the last columns first.
  const at = columns.findIndex(({ only }) => only === undefined) + 1;
  return [...columns.slice(0, at), org, ...columns.slice(at)];
};
