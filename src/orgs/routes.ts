import { orNotFound, resource } from '../kernel/route.js';
import { orgInviteTable, orgMemberTable, orgTable } from '../store/tables/orgs.js';
import { viewer } from '../store/view.js';
import { AdminOrg, Org, OrgInvite, type OrgLimits, OrgMember, orgs } from './contract.js';
import type { AdminOrgRow, NamedInviteRow, NamedMemberRow, OwnOrgRow } from './queries.js';
import {
  addMember,
  createInvite,
  createOrg,
  deleteInvite,
  deleteOrg,
  findManaged,
  findOrg,
  joinOrg,
  type OrgsDeps,
  removeMember,
  transferOrg,
  updateAnyOrg,
  updateMember,
  updateOrg,
} from './service.js';

export const orgsResource = (deps: OrgsDeps) => {
  const find = (id: string, userId: string) => viewOwnOrg(deps, id, userId);
  return resource('orgs', orgs, {
    list: async ({ query }, { userId }) => {
      const { rows, nextCursor } = await deps.orgs.list(userId, query);
      return { orgs: rows.map(viewOrg), nextCursor };
    },
    create: async ({ body }, by) => find(await createOrg(deps, body, by), by.userId),
    get: ({ id }, { userId }) => find(id, userId),
    update: async ({ id, body }, by) => {
      await updateOrg(deps, { id, changes: body }, by);
      return find(id, by.userId);
    },
    delete: ({ id, body }, by) => deleteOrg(deps, { id, request: body }, by),
    members: async ({ id, query }, { userId }) => {
      await findOrg(deps, id, userId);
      const { rows, nextCursor } = await deps.orgs.members(id, query);
      return { members: rows.map(viewMember), nextCursor };
    },
    'member-add': async ({ id, body }, by) =>
      viewMember(await addMember(deps, { id, request: body }, by)),
    'member-update': async ({ id, userId, body }, by) =>
      viewMember(await updateMember(deps, { id, userId, ...body }, by)),
    'member-remove': ({ id, userId }, by) => removeMember(deps, { id, userId }, by),
    invites: async ({ id, query }, { userId }) => {
      await findManaged(deps, id, userId);
      const { rows, nextCursor } = await deps.orgs.invites(id, query);
      return { invites: rows.map(viewInvite), nextCursor };
    },
    invite: ({ id, body }, by) => createInvite(deps, { id, request: body }, by),
    'invite-delete': ({ id, inviteId }, by) => deleteInvite(deps, { id, inviteId }, by),
    join: async ({ body }, by) => find(await joinOrg(deps, body.inviteToken, by), by.userId),
    transfer: async ({ id, body }, by) => {
      await transferOrg(deps, { id, request: body }, by);
      return find(id, by.userId);
    },
    'admin-list': async ({ query }) => {
      const { rows, nextCursor } = await deps.orgs.listAll(query);
      return { orgs: rows.map(viewAdminOrg), nextCursor };
    },
    'admin-update': async ({ id, body }, by) => {
      await updateAnyOrg(deps, { id, changes: body }, by);
      return viewAdminOrg(orNotFound(await deps.orgs.findAny(id), 'No organization with that id'));
    },
  });
};

export const viewOwnOrg = async (
  deps: Pick<OrgsDeps, 'orgs'>,
  id: string,
  userId: string,
): Promise<Org> => viewOrg(await findOrg(deps, id, userId));

const NO_LIMITS = {
  dailyCostUsd: null,
  monthlyCostUsd: null,
  memberDailyCostUsd: null,
  dailyTokens: null,
};
const viewLimits = (limits: string): OrgLimits => ({ ...NO_LIMITS, ...JSON.parse(limits) });

const viewOrg = viewer(orgTable, Org, {
  role: ({ role }: OwnOrgRow) => role,
  members: ({ members }) => members,
  approved: (row) => row.approved_at !== null,
  limits: (row) => viewLimits(row.limits),
  sso: ({ sso }): Org['sso'] => JSON.parse(sso),
  scim: (row) => ({
    enabled: row.scim_enabled === 1,
    tokenSet: row.scim_digest !== null,
    lastUsedAt: row.scim_used_at,
  }),
});
const viewAdminOrg = viewer(orgTable, AdminOrg, {
  owners: ({ owners }: AdminOrgRow): string[] => JSON.parse(owners),
  members: ({ members }) => members,
  approved: (row) => row.approved_at !== null,
  limits: (row) => viewLimits(row.limits),
});
const viewMember = viewer(orgMemberTable, OrgMember, {
  username: ({ username }: NamedMemberRow) => username,
  displayName: ({ display_name }) => display_name,
});
const viewInvite = viewer(orgInviteTable, OrgInvite, {
  invitedBy: ({ inviter }: NamedInviteRow) => inviter,
});
