import type { State } from '../state/state.js';
import { column, type ScreenColumn } from './table.js';
import { inlineValue } from './text.js';

/** Slug of the organization that a row belongs to. Empty for the user's own rows. */
const orgName = ({ session: { orgs }, lists }: State, orgId: unknown): string =>
  typeof orgId === 'string' ? (lists.orgs.byId[orgId]?.slug ?? orgs[orgId] ?? orgId) : '';

/** Value of any field of a row. */
export const fieldText = (state: State, field: string, value: unknown): string =>
  field === 'orgId' ? orgName(state, value) : inlineValue(value);

export const orgFacts = (state: State, { orgId }: { orgId: string | null }): [string, string][] =>
  orgId === null ? [] : [['Org', orgName(state, orgId)]];

/** No column if no row of the list belongs to an organization. */
export const orgColumns = <T>(
  state: State,
  orgIds: readonly unknown[],
  orgIdOf: (row: T) => unknown,
): ScreenColumn<T>[] =>
  orgIds.some((orgId) => typeof orgId === 'string')
    ? [column('ORG', [4, 32, 6], (row) => orgName(state, orgIdOf(row)))]
    : [];
