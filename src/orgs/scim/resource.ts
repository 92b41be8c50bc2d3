import Boom from '@hapi/boom';
import type { AccountOperations, ManagedAccounts } from '../../accounts/module.js';
import type { Clock } from '../../kernel/clock.js';
import type { Caller, IdentityProvider } from '../../kernel/contract/endpoint.js';
import type { Serial } from '../../kernel/serial.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { Store } from '../../store/store.js';
import type { OrgsStore } from '../queries.js';
import type { ScimQuery } from './contract.js';
import type { ScimOrgRow, ScimStore } from './queries.js';

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
  get(context: ScimContext, id: string, query: ScimQuery): Promise<ScimReply>;
  create(context: ScimContext, body: ScimCall['body']): Promise<ScimReply>;
  replace(context: ScimContext, call: ChangeCall): Promise<ScimReply>;
  patch(context: ScimContext, call: ChangeCall): Promise<ScimReply>;
  delete(context: ScimContext, call: ChangeCall): Promise<ScimReply>;
}
export type ChangeCall = Pick<ScimCall, 'body' | 'ifMatch'> & { id: string };

export const notUnique = (resource: ScimCall['resource']): Boom.Boom =>
  Boom.conflict(
    resource === 'Users'
      ? 'A user with this userName or externalId already exists'
      : 'A group with this displayName already exists',
    { scimType: 'uniqueness' },
  );

/** Throws 412 unless `If-Match` lists the version (RFC 7644, 3.14). */
export const requireVersion = (ifMatch: string | null, version: string): void => {
  if (ifMatch === null || ifMatch.trim() === '*') return;
  const strong = (tag: string): string => tag.trim().replace(/^W\//, '');
  if (ifMatch.split(',').map(strong).includes(strong(version))) return;
  throw Boom.preconditionFailed('The resource was changed meanwhile. Read it again');
};

const DEFAULT_COUNT = 100;
export const MAX_COUNT = 1000;

/** Paging and order of a list. */
export const readPaging = ({ startIndex = 1, count = DEFAULT_COUNT, sortOrder }: ScimQuery) => ({
  offset: Math.max(startIndex, 1) - 1,
  limit: Math.min(Math.max(count, 0), MAX_COUNT),
  isDescending: sortOrder?.toLowerCase() === 'descending',
});

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

interface Resource extends Record<string, unknown> {
  meta: { location: string; version: string };
}

export const resourceReply = (
  resource: Resource,
  { status = 200, body = resource }: { status?: number; body?: Record<string, unknown> } = {},
): ScimReply => {
  const { location, version: etag } = resource.meta;
  return { status, body, headers: { etag, ...(status === 201 ? { location } : {}) } };
};

/** Rows by the value of a column. */
export const groupRows = <K extends string, R extends Record<K, string>>(
  rows: R[],
  column: K,
): Map<string, R[]> => {
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const group = groups.get(row[column]);
    if (group) group.push(row);
    else groups.set(row[column], [row]);
  }
  return groups;
};
