import { CustomReply } from '../../kernel/contract/endpoint.js';
import { resource } from '../../kernel/route.js';
import { orgScimLogTable } from '../../store/tables/orgs.js';
import { viewer } from '../../store/view.js';
import type { Org } from '../contract.js';
import { findManaged } from '../service.js';
import { ScimLogEntry, type ScimQuery, scim } from './contract.js';
import { describeSchemas, describeService, describeTypes } from './discovery.js';
import type { ScimCall, ScimCaller, ScimReply } from './resource.js';
import type { ScimService } from './service.js';
import { createScimToken, deleteScimToken, enableScim, type ScimSettingsDeps } from './settings.js';

export interface ScimRoutesDeps extends ScimSettingsDeps {
  service: ScimService;
  /** View of an organization, for a member. */
  viewOrg(id: string, userId: string): Promise<Org>;
}

interface ScimInput {
  query: ScimQuery;
  ifMatch: string | null;
  userId?: string;
  groupId?: string;
  body?: Record<string, unknown>;
}

interface DiscoveryInput {
  ifMatch: string | null;
  schema?: string;
  type?: string;
}

export const scimResource = (deps: ScimRoutesDeps) => {
  const { service } = deps;
  const call = (
    { method, resource }: Pick<ScimCall, 'method' | 'resource'>,
    { query, ifMatch, userId, groupId, body = {} }: ScimInput,
    by: ScimCaller,
  ) => service.serve(by, { method, resource, id: userId ?? groupId ?? null, query, body, ifMatch });
  const on =
    (method: ScimCall['method'], resource: ScimCall['resource']) =>
    async (input: ScimInput, by: ScimCaller) =>
      replyOf(await call({ method, resource }, input, by));
  const change =
    (method: ScimCall['method'], resource: ScimCall['resource']) =>
    async (input: ScimInput, by: ScimCaller): Promise<void> => {
      await call({ method, resource }, input, by);
    };
  const describe =
    (describeIt: (base: string, id?: string) => ScimReply | Promise<ScimReply>) =>
    async ({ schema, type }: DiscoveryInput, by: ScimCaller) =>
      replyOf(await describeIt(service.baseFor(by), schema ?? type));

  const users = {
    list: on('GET', 'Users'),
    create: on('POST', 'Users'),
    get: on('GET', 'Users'),
    replace: on('PUT', 'Users'),
    patch: on('PATCH', 'Users'),
    delete: change('DELETE', 'Users'),
  };
  return resource('scim', scim, {
    settings: async ({ id, body: { enabled } }, by) => {
      await enableScim(deps, { id, enabled }, by);
      return (await deps.viewOrg(id, by.userId)).scim;
    },
    'token-create': ({ id, body: { password } }, by) => createScimToken(deps, { id, password }, by),
    'token-delete': ({ id, body }, by) =>
      deleteScimToken(deps, { id, password: body?.password }, by),
    log: async ({ id, query }, { userId }) => {
      await findManaged(deps, id, userId);
      const { rows, nextCursor } = await deps.scim.log(id, query);
      return { requests: rows.map(viewLogEntry), nextCursor };
    },
    ...users,
    'users-list': users.list,
    'users-create': users.create,
    'users-get': users.get,
    'users-replace': users.replace,
    'users-patch': users.patch,
    'users-delete': users.delete,
    'groups-list': on('GET', 'Groups'),
    'groups-create': on('POST', 'Groups'),
    'groups-get': on('GET', 'Groups'),
    'groups-replace': on('PUT', 'Groups'),
    'groups-patch': change('PATCH', 'Groups'),
    'groups-delete': change('DELETE', 'Groups'),
    bulk: async ({ query, body }, by) => replyOf(await service.bulk(by, query, body)),
    config: describe(describeService),
    schemas: describe(describeSchemas),
    'schemas-get': describe(describeSchemas),
    types: describe(describeTypes),
    'types-get': describe(describeTypes),
  });
};

const replyOf = ({ status, body, headers }: ScimReply) =>
  new CustomReply(status, body ?? {}, headers);

const viewLogEntry = viewer(orgScimLogTable, ScimLogEntry, {});
