import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const ScimQuery = s.stripUnknownKeys(
  s.object('ScimQuery', {
    org: s.optional(
      s
        .text(32)
        .description(
          'Slug of the organization. Only with your own token, and if you manage several',
        ),
    ),
    filter: s.optional(
      s
        .text(4000)
        .example('userName eq "ada@example.com"')
        .description('Filter (RFC 7644, 3.4.2.2). Ignored for a single user or group'),
    ),
    startIndex: s.optional(
      s
        .queryWhole(-1e9, 1e9)
        .description(
          'Position of the first result, starting at 1. Ignored for a single user or group',
        ),
    ),
    count: s.optional(
      s
        .queryWhole(-1e9, 1e9)
        .description(
          'Maximum number of results. Defaults to 100; at most 1,000 are returned. A page ends earlier if its users or groups have more than 10,000 group memberships in total',
        ),
    ),
    sortBy: s.optional(s.anyText(200).description('Attribute to sort by. Defaults to `id`')),
    sortOrder: s.optional(s.anyText(20).description('`ascending` or `descending`')),
    attributes: s.optional(
      s.anyText(4000).description('Attributes to return, separated by commas'),
    ),
    excludedAttributes: s.optional(
      s.anyText(4000).description('Attributes to omit, separated by commas'),
    ),
  }),
);
export type ScimQuery = s.Static<typeof ScimQuery>;

const ScimUser = s.record('ScimUser').description('User (RFC 7643, 4.1)');
const ScimGroup = s.record('ScimGroup').description('Group (RFC 7643, 4.2)');
const ScimList = s.record('ScimList').description('ListResponse (RFC 7644, 3.4.2)');
const ScimPatch = s.record('ScimPatch').description('PatchOp (RFC 7644, 3.5.2)');
const ScimBulk = s.record('ScimBulk').description('BulkRequest (RFC 7644, 3.7)');
const ScimConfig = s.record('ScimDiscovery').description('Discovery document (RFC 7644, 4)');

const common = { scim: true, query: ScimQuery } as const;
const writes = { ...common, unimpersonated: true } as const;
const discovery = { scim: true, ignoresQuery: true } as const;
const USER = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'ada@example.com',
  externalId: '00u1a2b3c4',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
  active: true,
};
const GROUP = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
  displayName: 'Engineering',
  members: [],
};
const patch = (value: object) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', value }],
});

/** RFC 7644 names the path `/Users`. */
const createUserEndpoints = <const P extends 'users' | 'Users'>(noun: P) => ({
  list: endpoint.get(`/api/scim/v2/${noun}`, {
    summary: 'List users (SCIM)',
    ...common,
    reply: ScimList,
  }),
  create: endpoint.post(`/api/scim/v2/${noun}`, {
    summary: 'Create a user (SCIM)',
    description:
      'Creates an account without a password and makes it a member of the organization. A deleted user with the same `externalId` or `userName` is restored.',
    ...writes,
    example: USER,
    body: ScimUser,
    reply: ScimUser,
    status: 201,
  }),
  get: endpoint.get(`/api/scim/v2/${noun}/{userId}`, {
    summary: 'Get a user (SCIM)',
    ...common,
    reply: ScimUser,
  }),
  replace: endpoint.put(`/api/scim/v2/${noun}/{userId}`, {
    summary: 'Set all attributes of a user (SCIM)',
    ...writes,
    example: USER,
    body: ScimUser,
    reply: ScimUser,
  }),
  patch: endpoint.patch(`/api/scim/v2/${noun}/{userId}`, {
    summary: 'Update a user (SCIM)',
    description: 'With `active: false`, all sessions, tokens and agents of the account end.',
    ...writes,
    example: patch({ active: false }),
    body: ScimPatch,
    reply: ScimUser,
  }),
  delete: endpoint.delete(`/api/scim/v2/${noun}/{userId}`, {
    summary: 'Delete a user (SCIM)',
    description: 'The account is disabled and kept.',
    ...writes,
  }),
});
const upper = createUserEndpoints('Users');

const ScimTokenRequest = s.object('ScimTokenRequest', {
  password: s.ownPassword(),
});

const ScimToken = s.object('ScimToken', {
  token: s.text(200).description('Bearer token for the identity provider. Returned only once'),
});

export const ScimLogEntry = s.object('ScimLogEntry', {
  id: s.id('scimlog'),
  method: s.text(10),
  path: s.text(600).description('Path below `/api/scim/v2`, with the filter'),
  status: s.integer(100, 599).description('Status code of the reply'),
  detail: s.nullable(s.text(2000)).description('Error message. `null` if the request succeeded'),
  username: s
    .nullable(s.text(50))
    .description('User who made the request. `null` for the identity provider'),
  createdAt: s.time(),
});

export type ScimLogEntry = s.Static<typeof ScimLogEntry>;

export const scim = contract({
  settings: endpoint.put('/api/orgs/{id}/scim', {
    summary: 'Enable or disable user provisioning (SCIM)',
    description:
      'Requires the role `owner` or `admin` in the organization, which must be approved. Accounts stay as they are.',
    unimpersonated: true,
    audit: 'orgs.scim',
    example: { enabled: true },
    body: s.object('ScimSettings', { enabled: s.boolean() }),
    reply: s.object('ScimState', {
      enabled: s.boolean().description('Whether an identity provider may manage users (SCIM)'),
      tokenSet: s.boolean().description('Whether a SCIM token exists'),
      lastUsedAt: s
        .nullable(s.time())
        .description('Last request of the identity provider. `null` if there is none'),
    }),
  }),
  'token-create': endpoint.post('/api/orgs/{id}/scim-token', {
    summary: 'Create the SCIM token of an organization',
    description:
      'Requires the role `owner` in the organization. The earlier token stops working at once.',
    personal: true,
    audit: 'orgs.scim-token',
    example: {},
    body: ScimTokenRequest,
    reply: ScimToken,
    status: 201,
    secret: true,
  }),
  'token-delete': endpoint.delete('/api/orgs/{id}/scim-token', {
    summary: 'Delete the SCIM token of an organization',
    description: 'Requires the role `owner` or `admin` in the organization.',
    personal: true,
    audit: 'orgs.scim-token-delete',
    example: {},
    body: s
      .nullable(ScimTokenRequest)
      .description('`null` is valid if your login is at most 10 minutes old'),
  }),
  log: endpoint.get('/api/orgs/{id}/scim/log', {
    summary: 'List the SCIM requests of an organization',
    description:
      'Requires the role `owner` or `admin` in the organization. The newest 1,000 requests are kept.',
    query: pageQuery('ScimLogQuery', {}),
    reply: createPageSchema('requests', ScimLogEntry, 'ScimLogPage'),
  }),

  ...createUserEndpoints('users'),
  'users-list': upper.list,
  'users-create': upper.create,
  'users-get': upper.get,
  'users-replace': upper.replace,
  'users-patch': upper.patch,
  'users-delete': upper.delete,
  'groups-list': endpoint.get('/api/scim/v2/Groups', {
    summary: 'List groups (SCIM)',
    ...common,
    reply: ScimList,
  }),
  'groups-create': endpoint.post('/api/scim/v2/Groups', {
    summary: 'Create a group (SCIM)',
    ...writes,
    example: GROUP,
    body: ScimGroup,
    reply: ScimGroup,
    status: 201,
  }),
  'groups-get': endpoint.get('/api/scim/v2/Groups/{groupId}', {
    summary: 'Get a group (SCIM)',
    ...common,
    reply: ScimGroup,
  }),
  'groups-replace': endpoint.put('/api/scim/v2/Groups/{groupId}', {
    summary: 'Set all attributes of a group (SCIM)',
    ...writes,
    example: GROUP,
    body: ScimGroup,
    reply: ScimGroup,
  }),
  'groups-patch': endpoint.patch('/api/scim/v2/Groups/{groupId}', {
    summary: 'Update a group (SCIM)',
    ...writes,
    example: patch({ displayName: 'Research' }),
    body: ScimPatch,
  }),
  'groups-delete': endpoint.delete('/api/scim/v2/Groups/{groupId}', {
    summary: 'Delete a group (SCIM)',
    ...writes,
  }),
  bulk: endpoint.post('/api/scim/v2/Bulk', {
    summary: 'Process several requests (SCIM)',
    ...writes,
    example: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [{ method: 'POST', path: '/Groups', bulkId: 'g1', data: GROUP }],
    },
    body: ScimBulk,
    reply: ScimBulk,
  }),
  config: endpoint.get('/api/scim/v2/ServiceProviderConfig', {
    summary: 'Get the supported features (SCIM)',
    ...discovery,
    reply: ScimConfig,
  }),
  schemas: endpoint.get('/api/scim/v2/Schemas', {
    summary: 'List the schemas (SCIM)',
    ...discovery,
    reply: ScimList,
  }),
  'schemas-get': endpoint.get('/api/scim/v2/Schemas/{schema}', {
    summary: 'Get a schema (SCIM)',
    ...discovery,
    reply: ScimConfig,
  }),
  types: endpoint.get('/api/scim/v2/ResourceTypes', {
    summary: 'List the resource types (SCIM)',
    ...discovery,
    reply: ScimList,
  }),
  'types-get': endpoint.get('/api/scim/v2/ResourceTypes/{type}', {
    summary: 'Get a resource type (SCIM)',
    ...discovery,
    reply: ScimConfig,
  }),
});
