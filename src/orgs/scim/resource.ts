import Boom from '@hapi/boom';
import type { AccountOperations, ManagedAccounts } from '../../accounts/module.js';
import type { Clock } from '../../kernel/clock.js';
import type { Caller, IdentityProvider } from '../../kernel/contract/endpoint.js';
import { orNotFound } from '../../kernel/route.js';
import type { Serial } from '../../kernel/serial.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Store } from '../../store/store.js';
import type { OrgsStore } from '../queries.js';
import { isRequested, projectAttributes } from './attributes.js';
import type { ScimQuery } from './contract.js';
import { type Attribute, type Compare, normalizePath, parseFilter } from './filter.js';
import type { GroupLink, ListInput, ScimOrgRow, ScimStore } from './queries.js';

export interface ScimDeps {
  scim: ScimStore;
  orgs: Pick<OrgsStore, 'joinStep' | 'leaveStep' | 'member'>;
  store: Pick<Store, 'tryTransact'>;
  managed: ManagedAccounts;
  accounts: Pick<AccountOperations, 'keyOf'>;
  clock: Clock;
  serial: Serial;
  publicUrl(): string | null;
}

export type ScimCaller = Caller | IdentityProvider;

export interface ScimCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  resource: 'Users' | 'Groups';
  id: string | null;
  query: ScimQuery;
  body: Record<string, unknown>;
  ifMatch: string | null;
}

export interface ScimReply {
  status: number;
  body: Record<string, unknown> | null;
  headers: Record<string, string>;
}

/** The organization and caller of a request. */
export interface ScimContext {
  org: ScimOrgRow;
  by: ScimCaller;
  /** Address of the SCIM endpoints. */
  base: string;
  now: string;
  audit(action: string, data: Record<string, unknown>): TransactionStep;
}

/** What users and groups have in common. Calls that change something run one after another. */
export interface ScimResource {
  list(context: ScimContext, query: ScimQuery): Promise<ScimReply>;
  get(context: ScimContext, call: ResourceCall): Promise<ScimReply>;
  create(context: ScimContext, call: ScimCall): Promise<ScimReply>;
  replace(context: ScimContext, call: ResourceCall): Promise<ScimReply>;
  patch(context: ScimContext, call: ResourceCall): Promise<ScimReply>;
  delete(context: ScimContext, call: ResourceCall): Promise<ScimReply>;
}
export type ResourceCall = ScimCall & { id: string };

export const notUnique = (resource: ScimCall['resource']): Boom.Boom =>
  Boom.conflict(
    resource === 'Users'
      ? 'A user with this userName or externalId already exists'
      : 'A group with this displayName already exists',
    { scimType: 'uniqueness' },
  );

/** `If-Match` (RFC 7644, 3.14). */
const requireVersion = (ifMatch: string | null, version: string): void => {
  if (ifMatch === null || ifMatch.trim() === '*') return;
  const strong = (tag: string): string => tag.trim().replace(/^W\//, '');
  if (ifMatch.split(',').map(strong).includes(strong(version))) return;
  throw Boom.preconditionFailed('The resource was changed meanwhile. Read it again');
};

const DEFAULT_COUNT = 100;
export const MAX_COUNT = 1000;
/** Memberships in a list. A page may have fewer resources than requested (RFC 7644, 3.4.2.4). */
const MAX_LINKS = 10_000;

interface Resource extends Record<string, unknown> {
  meta: { location: string; version: string };
}

interface Readable<R> {
  noun: 'user' | 'group';
  /** Attribute that contains the memberships. */
  linked: 'groups' | 'members';
  attributes: Record<string, Attribute>;
  compare: Compare;
  find(orgId: string, id: string): Promise<R | undefined>;
  list(input: ListInput): Promise<{ rows: R[]; total: number }>;
  versionOf(row: R): string;
  view(row: R, links: GroupLink[], base: string): Resource;
}

export const createReader = <R extends { id: string }>(
  scim: Pick<ScimStore, 'links' | 'countLinks'>,
  { noun, linked, attributes, compare, find, list, versionOf, view }: Readable<R>,
) => {
  const by = noun === 'user' ? 'identity_id' : 'group_id';
  const missing = `No ${noun} with that id`;

  /** The first rows that together have at most `MAX_LINKS` memberships. At least one. */
  const limitLinks = async (rows: R[]): Promise<R[]> => {
    const counts = await scim.countLinks(by, idsOf(rows));
    let links = 0;
    const end = rows.findIndex(({ id }, at) => {
      links += counts.get(id) ?? 0;
      return at > 0 && links > MAX_LINKS;
    });
    return end === -1 ? rows : rows.slice(0, end);
  };

  const viewRows = async (rows: R[], links: boolean, base: string): Promise<Resource[]> => {
    const all = links ? await scim.links(by, idsOf(rows)) : [];
    const byId = Map.groupBy(all, (link) => link[by]);
    return rows.map((row) => view(row, byId.get(row.id) ?? [], base));
  };

  return {
    /** Throws 412 if the resource is not the one of `If-Match`. */
    find: async ({ org }: ScimContext, { id, ifMatch }: ResourceCall): Promise<R> => {
      const row = orNotFound(await find(org.id, id), missing);
      requireVersion(ifMatch, versionOf(row));
      return row;
    },

    list: async ({ org, base }: ScimContext, query: ScimQuery): Promise<ScimReply> => {
      const { filter, startIndex = 1, count = DEFAULT_COUNT, sortBy = '', sortOrder } = query;
      const offset = Math.max(startIndex, 1) - 1;
      const { rows, total } = await list({
        orgId: org.id,
        where: filter === undefined ? null : parseFilter(filter, compare),
        sortBy: attributes[normalizePath(sortBy)]?.of ?? null,
        isDescending: sortOrder?.toLowerCase() === 'descending',
        offset,
        limit: Math.min(Math.max(count, 0), MAX_COUNT),
      });
      const links = isRequested(linked, query);
      const resources = await viewRows(links ? await limitLinks(rows) : rows, links, base);
      const projected = resources.map((each) => projectAttributes(each, query));
      return listReply(projected, { offset, total });
    },

    get: async (
      { org, base }: ScimContext,
      { id, query }: Pick<ScimCall, 'query'> & { id: string },
      status = 200,
    ): Promise<ScimReply> => {
      const found = await find(org.id, id);
      const [view] = await viewRows(found ? [found] : [], isRequested(linked, query), base);
      const resource = orNotFound(view, missing);
      const { location, version: etag } = resource.meta;
      const headers = { etag, ...(status === 201 && { location }) };
      return { status, body: projectAttributes(resource, query), headers };
    },
  };
};

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

export const listReply = (
  resources: object[],
  { offset, total }: { offset: number; total: number },
): ScimReply => ({
  status: 200,
  body: {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  },
  headers: {},
});
