import Joi from 'joi';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const slug = () =>
  Joi.string<string>()
    .pattern(
      // The first is a value of `orgId`. Names of models cannot begin with the others.
      /^(?!(?:personal|routing|health|test|usage|cli|providers)$)[a-z0-9][a-z0-9-]{1,31}$/,
      '2 to 32 lower-case letters, digits and hyphens, and no reserved word such as personal or health',
    )
    .example('acme')
    .description('Short name (slug), unique in the installation. It cannot be changed');
const name = () => s.text(120).example('Acme Ltd');
const newName = () =>
  name()
    .trim()
    .pattern(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'text without control characters');
/** Of an existing organization, which may be older than the rules for new ones. */
const knownSlug = () =>
  s
    .text(32)
    .example('acme')
    .description('Short name (slug), unique in the installation. It cannot be changed');
const role = () => s.oneOf('OrgRole', 'owner', 'admin', 'member');
const OrgLimits = s.object('OrgLimits', {
  dailyCostUsd: s
    .nullable(s.number(0, 1e6))
    .description(
      'Maximum cost per day (UTC) of all agents of the organization together, in USD. `null` applies `ADJUTANT_DAILY_COST_USD`',
    ),
  monthlyCostUsd: s
    .nullable(s.number(0, 1e6))
    .description(
      'Maximum cost per calendar month (UTC) of all agents of the organization together, in USD. `null` means no limit',
    ),
  memberDailyCostUsd: s
    .nullable(s.number(0, 1e6))
    .description(
      'Maximum cost of the agents that one member starts on a day (UTC), in USD. `null` means no limit',
    ),
  dailyTokens: s
    .nullable(s.integer(0, 1e12))
    .description(
      'Maximum number of tokens per day (UTC) of all agents of the organization together. `null` means no limit',
    ),
});
export type OrgLimits = s.Static<typeof OrgLimits>;
const limits = () => OrgLimits.description('Limits, set by an admin of the installation');

export const Org = s.object('Org', {
  id: s.id('org'),
  slug: knownSlug(),
  name: name(),
  role: s
    .oneOf('OwnOrgRole', 'owner', 'admin', 'member')
    .description('Your role in the organization'),
  members: s.integer(0, 1e6).description('Number of members'),
  maxMembers: s
    .integer(1, 1e6)
    .description('Maximum number of members. Set by an admin of the installation'),
  approved: s
    .boolean()
    .description(
      'Whether an admin of the installation has approved the organization. Without the approval, the organization cannot own resources such as hooks, and cannot use single sign-on or user provisioning',
    ),
  limits: limits(),
  notify: s
    .list(s.id('user'), 1000)
    .description(
      'User IDs of the members who get the notifications of the organization. If empty, the owners',
    ),
  sso: s.object('OrgSso', {
    enabled: s.boolean().description('Whether members can log in with single sign-on'),
    enforced: s
      .boolean()
      .description('Whether accounts of the identity provider must use single sign-on'),
    domains: s.list(s.text(253), 20).description('Verified domains'),
  }),
  scim: s.object('OrgScim', {
    enabled: s.boolean().description('Whether an identity provider may manage users (SCIM)'),
    tokenSet: s.boolean().description('Whether a SCIM token exists'),
    lastUsedAt: s
      .nullable(s.time())
      .description('Last request of the identity provider, to the minute. `null` if there is none'),
  }),
  createdAt: s.time(),
});
export type Org = s.Static<typeof Org>;

const NewOrg = s.object('NewOrg', { slug: slug(), name: newName() });
export type NewOrg = s.Static<typeof NewOrg>;

const OrgChanges = s.partial(
  'OrgChanges',
  s.object('OrgChanges', {
    name: newName(),
    notify: s
      .list(s.text(80), 1000)
      .description(
        'User IDs of the members who get the notifications of the organization. With an empty list, the owners get them',
      ),
  }),
);
export type OrgChanges = s.Static<typeof OrgChanges>;

const OrgDeletion = s.object('OrgDeletion', {
  slug: knownSlug().description('Short name of the organization, as a confirmation'),
  resources: s.optional(
    s
      .oneOf('OrgResources', 'transfer', 'delete')
      .description(
        'Whether to transfer the resources of the organization to you, or to delete them. Required if there are any. Models and MCP servers are deleted in both cases. Transferred hooks, outgoing webhooks and recurring tasks are disabled, since others may have created them',
      ),
  ),
  password: s.ownPassword(),
});
export type OrgDeletion = s.Static<typeof OrgDeletion>;

export const OrgMember = s.object('OrgMember', {
  userId: s.id('user'),
  username: s.text(50),
  displayName: s
    .nullable(s.text(254))
    .description(
      'Name of the user at the identity provider. `null` if the account is not linked to it, or has no name there',
    ),
  role: role(),
  createdAt: s.time().description('Time at which the user joined the organization'),
});
export type OrgMember = s.Static<typeof OrgMember>;

const NewOrgMember = s.object('NewOrgMember', {
  username: s.text(254).description('Username or e-mail address of an existing account'),
  role: s.optional(s.oneOf('OrgInviteRole', 'admin', 'member')),
});
export type NewOrgMember = s.Static<typeof NewOrgMember>;

const OrgMemberChanges = s.object('OrgMemberChanges', {
  role: role(),
  password: s.ownPassword(),
});
export type OrgMemberChanges = s.Static<typeof OrgMemberChanges>;

export const OrgInvite = s.object('OrgInvite', {
  id: s.id('invite'),
  role: s.oneOf('OrgInviteRole', 'admin', 'member'),
  email: s
    .nullable(s.text(254))
    .description('E-mail address that the account must have. `null` for any account'),
  invitedBy: s.text(50).description('Username of the member who created the invite'),
  expiresAt: s.time(),
  createdAt: s.time(),
});
export type OrgInvite = s.Static<typeof OrgInvite>;

const NewOrgInvite = s.object('NewOrgInvite', {
  role: s.optional(s.oneOf('OrgInviteRole', 'admin', 'member')),
  email: s.optional(
    s.email().description('E-mail address that the account must have. Any account if omitted'),
  ),
  expiresInHours: s.optional(
    s.integer(1, 720).description('Validity of the invite in hours. Defaults to 72'),
  ),
});
export type NewOrgInvite = s.Static<typeof NewOrgInvite>;

const OrgTransfer = s.object('OrgTransfer', {
  userId: s.id('user').description('ID of the member who becomes the owner'),
  password: s.ownPassword(),
});
export type OrgTransfer = s.Static<typeof OrgTransfer>;

export const AdminOrg = s.object('AdminOrg', {
  id: s.id('org'),
  slug: knownSlug(),
  name: name(),
  owners: s.list(s.text(50), 1000).description('Usernames of the owners'),
  members: s.integer(0, 1e6).description('Number of members'),
  maxMembers: s.integer(1, 1e6).description('Maximum number of members'),
  limits: limits(),
  approved: s
    .boolean()
    .description(
      'Whether the organization may own resources such as hooks, and use single sign-on and user provisioning',
    ),
  createdAt: s.time(),
});
export type AdminOrg = s.Static<typeof AdminOrg>;

const AdminOrgChanges = s.partial(
  'AdminOrgChanges',
  s.object('AdminOrgChanges', {
    approved: s
      .boolean()
      .description(
        'Whether the organization may own resources such as hooks, and use single sign-on and user provisioning',
      ),
    maxMembers: s
      .integer(1, 100_000)
      .description('Maximum number of members. Existing members beyond it stay'),
    limits: s.partial('OrgLimitChanges', OrgLimits),
    password: s.ownPassword(),
  }),
);
export type AdminOrgChanges = s.Static<typeof AdminOrgChanges>;

const JoinRequest = s.object('JoinRequest', { inviteToken: s.text(200) });

export const orgs = contract({
  list: endpoint.get('/api/orgs', {
    summary: 'List your organizations',
    query: pageQuery('OrgQuery', {}),
    reply: createPageSchema('orgs', Org),
  }),
  create: endpoint.post('/api/orgs', {
    summary: 'Create an organization',
    description: 'You become its owner. You can own at most 5 organizations.',
    audit: 'orgs.create',
    example: { slug: 'acme', name: 'Acme Ltd' },
    body: NewOrg,
    reply: Org,
    status: 201,
  }),
  get: endpoint.get('/api/orgs/{id}', { summary: 'Get an organization', reply: Org }),
  update: endpoint.patch('/api/orgs/{id}', {
    summary: 'Update an organization',
    description: 'Requires the role `owner` or `admin` in the organization.',
    audit: 'orgs.update',
    example: { name: 'Acme International Ltd' },
    body: s.ignoreReadOnly(
      OrgChanges,
      'id',
      'slug',
      'role',
      'members',
      'maxMembers',
      'approved',
      'limits',
      'sso',
      'scim',
      'createdAt',
    ),
    reply: Org,
  }),
  delete: endpoint.delete('/api/orgs/{id}', {
    summary: 'Delete an organization',
    description:
      'Requires the role `owner`. The accounts of the members are kept. The resources of the organization are deleted, or transferred to you.',
    personal: true,
    audit: 'orgs.delete',
    example: { slug: 'acme' },
    body: OrgDeletion,
  }),
  members: endpoint.get('/api/orgs/{id}/members', {
    summary: 'List the members of an organization',
    query: pageQuery('OrgMemberQuery', {}),
    reply: createPageSchema('members', OrgMember, 'OrgMembersPage'),
  }),
  'member-add': endpoint.post('/api/orgs/{id}/members', {
    summary: 'Add a member to an organization',
    description:
      'Requires the role `owner` or `admin` in the organization. `role` defaults to `member`. The user is notified and can leave at any time.',
    unimpersonated: true,
    audit: 'orgs.member-add',
    example: { username: 'bob', role: 'member' },
    body: NewOrgMember,
    reply: OrgMember,
    status: 201,
  }),
  'member-update': endpoint.patch('/api/orgs/{id}/members/{userId}', {
    summary: 'Change the role of a member',
    description:
      'Requires the role `owner` or `admin` in the organization. Only an owner can change owners or make somebody an owner, which requires a recent login. The last owner cannot be demoted.',
    unimpersonated: true,
    audit: 'orgs.member-update',
    example: { role: 'admin' },
    body: OrgMemberChanges,
    reply: OrgMember,
  }),
  'member-remove': endpoint.delete('/api/orgs/{id}/members/{userId}', {
    summary: 'Remove a member from an organization',
    description:
      'With your own user ID, you leave the organization. Other members can be removed by owners and admins. The last owner cannot leave.',
    unimpersonated: true,
    audit: 'orgs.member-remove',
  }),
  invites: endpoint.get('/api/orgs/{id}/invites', {
    summary: 'List the invites of an organization',
    description: 'Requires the role `owner` or `admin` in the organization.',
    query: pageQuery('OrgInviteQuery', {}),
    reply: createPageSchema('invites', OrgInvite, 'OrgInvitesPage'),
  }),
  invite: endpoint.post('/api/orgs/{id}/invites', {
    summary: 'Create an invite to an organization',
    description:
      'Requires the role `owner` or `admin` in the organization. The invite works once, for an existing account.',
    unimpersonated: true,
    audit: 'orgs.invite',
    example: { email: 'bob@example.org', role: 'member' },
    body: NewOrgInvite,
    reply: s.object('IssuedOrgInvite', {
      id: s.id('invite'),
      inviteToken: s
        .text(200)
        .description('Token to pass to `POST /api/orgs/join`. It is returned only once'),
      expiresAt: s.time(),
    }),
    status: 201,
    secret: true,
  }),
  'invite-delete': endpoint.delete('/api/orgs/{id}/invites/{inviteId}', {
    summary: 'Delete an invite to an organization',
    description: 'Requires the role `owner` or `admin` in the organization.',
    audit: 'orgs.invite-delete',
  }),
  join: endpoint.post('/api/orgs/join', {
    summary: 'Join an organization with an invite',
    unimpersonated: true,
    audit: 'orgs.join',
    example: { inviteToken: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' },
    body: JoinRequest,
    reply: Org,
  }),
  transfer: endpoint.post('/api/orgs/{id}/transfer', {
    summary: 'Transfer an organization to another member',
    description: 'Requires the role `owner`. You become an admin of the organization.',
    personal: true,
    audit: 'orgs.transfer',
    example: { userId: 'user_01jcx2kq7m8f3k2a9v5ztw4e6r' },
    body: OrgTransfer,
    reply: Org,
  }),
  'admin-list': endpoint.get('/api/admin/orgs', {
    summary: 'List all organizations',
    access: 'admin',
    audit: 'orgs.list',
    query: pageQuery('AdminOrgQuery', { approved: s.optional(s.queryFlag()) }),
    reply: createPageSchema('orgs', AdminOrg, 'AdminOrgsPage'),
  }),
  'admin-update': endpoint.patch('/api/admin/orgs/{id}', {
    summary: 'Approve or limit an organization',
    access: 'admin',
    audit: 'orgs.approve',
    example: { approved: true },
    body: AdminOrgChanges,
    reply: AdminOrg,
  }),
});
