import { createHash, randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import type { AccountOperations, ManagedAccounts } from '../accounts/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { mint } from '../kernel/ids.js';
import { badRequest, orNotFound } from '../kernel/route.js';
import type { Notice, Outbox } from '../outbound/module.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import { patchJson } from '../store/rows.js';
import type { OrgMemberRow, OrgRole } from '../store/tables/orgs.js';
import type {
  AdminOrgChanges,
  NewOrg,
  NewOrgInvite,
  NewOrgMember,
  OrgChanges,
  OrgDeletion,
  OrgMemberChanges,
  OrgTransfer,
} from './contract.js';
import type { OrgDeletionPlan } from './deletion.js';
import { MAX_OWNED, type NamedMemberRow, type OrgsStore, type OwnOrgRow } from './queries.js';
import { MANAGERS, mayChangeMember } from './rules.js';

export interface OrgsDeps {
  orgs: OrgsStore;
  clock: Clock;
  accounts: Pick<AccountOperations, 'proveFresh' | 'keyOf'>;
  managed: Pick<ManagedAccounts, 'endMembership'>;
  outbox: Outbox;
  /** Resolves when no agent and no pipeline of the organization runs any more. */
  stopWork(orgId: string): Promise<void>;
  finishDeletion(plan: OrgDeletionPlan): Promise<void>;
}

export type By = Caller & Recorder;

const HOUR_MS = 3600 * 1000;
const DEFAULT_HOURS = 72;

/** Throws 404 if the caller is not a member. */
export const findOrg = async (
  { orgs }: Pick<OrgsDeps, 'orgs'>,
  orgId: string,
  userId: string,
): Promise<OwnOrgRow> => orNotFound(await orgs.find(userId, orgId), 'No organization with that id');

/** Throws 404 if the caller is not a member, and 403 if the caller has none of the roles. */
export const findManaged = async (
  deps: Pick<OrgsDeps, 'orgs'>,
  orgId: string,
  userId: string,
  roles: OrgRole[] = MANAGERS,
): Promise<OwnOrgRow> => {
  const org = await findOrg(deps, orgId, userId);
  if (!roles.includes(org.role)) throw roleRequired(roles);
  return org;
};

export const roleRequired = (roles: OrgRole[]): Boom.Boom =>
  Boom.forbidden(
    roles.length === 1
      ? 'Only an owner of the organization may do this'
      : 'Only owners and admins of the organization may do this',
    { code: 'org_role' },
  );

export const createOrg = async (
  { orgs, clock, outbox }: OrgsDeps,
  { slug, name }: NewOrg,
  by: By,
): Promise<string> => {
  const now = clock.now();
  const org = { id: mint('org', now), slug, name, approved_at: null, created_at: iso(now) };
  const owner = membership({ orgId: org.id, userId: by.userId, role: 'owner', now });
  const record = by.record({ target: org.id, data: { slug, name } });
  const notices = (await orgs.adminIds()).map((userId) =>
    noticeTo({ outbox }, userId, by, {
      kind: 'org.created',
      title: `The organization ${name} waits for approval`,
      body: `${by.username} created it. To approve it: adjutant orgs admin update ${slug} --approved`,
    }),
  );
  const also = [...notices.flatMap(({ statements }) => statements), record];
  const isMade = await orConflict(
    orgs.insert(
      { ...org, max_members: DEFAULT_MEMBERS, notify: '[]', deletion: null },
      owner,
      also,
    ),
    () =>
      Boom.conflict(`An organization with the slug ${slug} already exists. Choose another slug`, {
        code: 'slug_taken',
        details: [{ path: 'slug', message: 'is already in use' }],
      }),
  );
  if (!isMade) {
    throw Boom.conflict(
      `You own the maximum of ${MAX_OWNED} organizations. Transfer or delete one first`,
      { code: 'too_many_orgs' },
    );
  }
  for (const notice of notices) notice.published();
  return org.id;
};

const DEFAULT_MEMBERS = 100;

export const updateOrg = async (
  deps: OrgsDeps,
  { id, changes }: { id: string; changes: OrgChanges },
  by: By,
): Promise<void> => {
  await findManaged(deps, id, by.userId);
  const { name, notify } = changes;
  for (const [at, userId] of (notify ?? []).entries()) {
    if (await deps.orgs.member({ orgId: id, userId })) continue;
    throw badRequest([{ path: `notify.${at}`, message: 'is not the user ID of a member' }]);
  }
  const change = {
    ...(name !== undefined && { name }),
    ...(notify && { notify: JSON.stringify([...new Set(notify)]) }),
  };
  const record = by.record({ target: id, data: { ...changes } });
  const isDone = await deps.orgs.update({ orgId: id, userId: by.userId }, change, [record]);
  if (!isDone) throw roleRequired(MANAGERS);
};

export const deleteOrg = async (
  deps: OrgsDeps,
  { id, request }: { id: string; request: OrgDeletion },
  by: By,
): Promise<void> => {
  const org = await findManaged(deps, id, by.userId, ['owner']);
  if (request.slug !== org.slug) {
    throw badRequest([{ path: 'slug', message: `must be ${org.slug}, as a confirmation` }]);
  }
  const toUserId = await recipientOf(deps, { orgId: id, userId: by.userId }, request);
  await deps.accounts.proveFresh(by, request.password);
  const data = { slug: org.slug, members: org.members, resources: request.resources, toUserId };
  const plan = { at: iso(deps.clock.now()), toUserId };
  const of = { orgId: id, userId: by.userId };
  const members = await deps.orgs.memberIds(id);
  const notices = members.map((userId) =>
    noticeTo(deps, userId, by, {
      title: `The organization ${org.name} was deleted`,
      body: `Deleted by ${by.username}. You are no longer a member.`,
    }),
  );
  const also = [
    ...notices.flatMap(({ statements }) => statements),
    by.record({ target: id, data }),
  ];
  const isBegun = await deps.orgs.beginDeletion(of, plan, also);
  if (!isBegun) throw roleRequired(['owner']);
  for (const notice of notices) notice.published();
  for (const userId of new Set([...members, ...(await deps.orgs.managedUsers(id))])) {
    await deps.managed.endMembership({ userId, orgId: id });
  }
  await deps.finishDeletion({ orgId: id, toUserId });
};

/** Only the caller may get them, since hooks and webhooks act with the rights of their owner. */
const recipientOf = async (
  { orgs }: OrgsDeps,
  { orgId, userId }: { orgId: string; userId: string },
  { resources }: OrgDeletion,
): Promise<string | null> => {
  if (resources === undefined && (await orgs.ownsResources(orgId))) {
    throw badRequest([
      {
        path: 'resources',
        message: 'is required, since the organization owns resources: transfer or delete',
      },
    ]);
  }
  return resources === 'transfer' ? userId : null;
};

/** Throws 404 if there is no such enabled account. The user is notified. */
export const addMember = async (
  deps: OrgsDeps,
  { id, request: { username, role = 'member' } }: { id: string; request: NewOrgMember },
  by: By,
): Promise<NamedMemberRow> => {
  const org = await findManaged(deps, id, by.userId);
  const userId = await deps.orgs.userIdOf(deps.accounts.keyOf(username));
  if (userId === null) {
    throw badRequest([{ path: 'username', message: 'is not the name of an enabled account' }]);
  }
  const row = membership({ orgId: id, userId, role, now: deps.clock.now() });
  const notice = deps.outbox.toOwner(userId, {
    kind: 'org.membership',
    title: `You were added to the organization ${org.name}`,
    body: `${by.username} added you with the role ${role}. To leave: adjutant orgs leave ${org.slug}`,
    link: null,
  });
  const also = [...notice.statements, by.record({ target: id, data: { userId, role } })];
  if (!(await orConflict(deps.orgs.addMember(row, by.userId, also), alreadyMember))) {
    throw await refusedMember(deps, org, by);
  }
  notice.published();
  return requireMember(deps, id, userId);
};

/** The role was lost meanwhile, or the organization is full. */
const refusedMember = async (deps: OrgsDeps, { id }: OwnOrgRow, { userId }: By) => {
  const { members, max_members } = await findManaged(deps, id, userId);
  return members >= max_members ? orgFull(max_members) : roleRequired(MANAGERS);
};

export const orgFull = (most: number): Boom.Boom =>
  Boom.conflict(
    `The organization has its maximum of ${most} members. An admin of the installation can raise the maximum`,
    { code: 'org_full' },
  );

const alreadyMember = (): Boom.Boom =>
  Boom.conflict('The user is already a member of the organization', { code: 'member_exists' });

export const updateMember = async (
  deps: OrgsDeps,
  { id, userId, role, password }: OrgMemberChanges & { id: string; userId: string },
  by: By,
): Promise<NamedMemberRow> => {
  const org = await findManaged(deps, id, by.userId);
  const from = await requireMember(deps, id, userId);
  if (!mayChangeMember(org.role, from.role, role)) throw roleRequired(['owner']);
  if (role === 'owner') await deps.accounts.proveFresh(by, password);
  const notice = noticeTo(deps, userId, by, {
    title: `Your role in the organization ${org.name} was changed`,
    body: `${by.username} changed your role from ${from.role} to ${role}.`,
  });
  const record = by.record({ target: id, data: { userId, from: from.role, to: role } });
  const actor = { userId: by.userId, roles: [org.role] };
  const also = [...notice.statements, record];
  if (!(await deps.orgs.changeRole(from, role, actor, also))) {
    throw await refusedChange(deps, from, role);
  }
  notice.published();
  return requireMember(deps, id, userId);
};

/** Also for members who leave. */
export const removeMember = async (
  deps: OrgsDeps,
  { id, userId }: { id: string; userId: string },
  by: By,
): Promise<void> => {
  const org = await findOrg(deps, id, by.userId);
  const isLeaving = userId === by.userId;
  if (!isLeaving && org.role === 'member') throw roleRequired(MANAGERS);
  const from = await requireMember(deps, id, userId);
  if (!isLeaving && !mayChangeMember(org.role, from.role, null)) throw roleRequired(['owner']);
  const notice = noticeTo(deps, userId, by, {
    title: `You were removed from the organization ${org.name}`,
    body: `Removed by ${by.username}.`,
  });
  const record = by.record({ target: id, data: { userId, role: from.role } });
  const actor = { userId: by.userId, roles: [org.role] };
  const also = [...notice.statements, record];
  if (!(await deps.orgs.removeMember(from, actor, also))) {
    throw await refusedChange(deps, from, null);
  }
  notice.published();
  await deps.managed.endMembership({ userId, orgId: id });
};

const refusedChange = async (
  { orgs }: OrgsDeps,
  from: OrgMemberRow,
  wanted: OrgRole | null,
): Promise<Boom.Boom> => {
  const now = await orgs.member({ orgId: from.org_id, userId: from.user_id });
  if (now?.role === 'owner' && from.role === 'owner') return lastOwner();
  if (wanted === 'owner' && now?.role === from.role) {
    return Boom.conflict(
      `The member cannot become an owner: the account is disabled, or owns the maximum of ${MAX_OWNED} organizations`,
      { code: 'too_many_orgs' },
    );
  }
  return Boom.conflict('The roles were changed meanwhile. List the members and try again', {
    code: 'roles_changed',
  });
};

export const lastOwner = (): Boom.Boom =>
  Boom.conflict('This is the last owner. Make another member an owner first', {
    code: 'last_owner',
  });

export const transferOrg = async (
  deps: OrgsDeps,
  { id, request }: { id: string; request: OrgTransfer },
  by: By,
): Promise<void> => {
  const org = await findManaged(deps, id, by.userId, ['owner']);
  const { userId, password } = request;
  if (userId === by.userId) {
    throw badRequest([{ path: 'userId', message: 'must be another member' }]);
  }
  const to = await requireMember(deps, id, userId);
  await deps.accounts.proveFresh(by, password);
  const owner = await requireMember(deps, id, by.userId);
  const notice = noticeTo(deps, userId, by, {
    title: `You are now an owner of the organization ${org.name}`,
    body: `${by.username} transferred the organization to you.`,
  });
  const also = [...notice.statements, by.record({ target: id, data: { userId } })];
  if (!(await deps.orgs.transfer(owner, to, also))) throw await refusedChange(deps, to, 'owner');
  notice.published();
};

export const createInvite = async (
  { orgs, clock, ...deps }: OrgsDeps,
  { id, request }: { id: string; request: NewOrgInvite },
  by: By,
) => {
  await findManaged({ orgs }, id, by.userId);
  const { role = 'member', email = null, expiresInHours = DEFAULT_HOURS } = request;
  const now = clock.now();
  const inviteToken = randomBytes(32).toString('base64url');
  const row = {
    id: mint('invite', now),
    org_id: id,
    digest: computeDigest(inviteToken),
    email: email === null ? null : deps.accounts.keyOf(email),
    role,
    invited_by: by.userId,
    expires_at: iso(now + expiresInHours * HOUR_MS),
    created_at: iso(now),
  };
  const { id: inviteId, expires_at: expiresAt } = row;
  const record = by.record({ target: id, data: { inviteId, role, email, expiresAt } });
  if (!(await orgs.insertInvite(row, [record]))) throw roleRequired(MANAGERS);
  return { id: inviteId, inviteToken, expiresAt };
};

export const deleteInvite = async (
  deps: OrgsDeps,
  { id, inviteId }: { id: string; inviteId: string },
  by: By,
): Promise<void> => {
  await findManaged(deps, id, by.userId);
  const record = by.record({ target: id, data: { inviteId } });
  const of = { orgId: id, userId: by.userId };
  if (await deps.orgs.deleteInvite(of, inviteId, [record])) return;
  throw Boom.notFound('No invite with that id');
};

/** Resolves to the ID of the organization. A wrong address gets the reply of a wrong token. */
export const joinOrg = async (deps: OrgsDeps, token: string, by: By): Promise<string> => {
  const { orgs, clock } = deps;
  const now = clock.now();
  const digest = computeDigest(token);
  const invite = await orgs.openInvite(digest, iso(now));
  if (!invite) throw inviteRefused();
  const isBound = invite.email !== null;
  if (isBound && (await orgs.userIdOf(invite.email ?? '')) !== by.userId) throw inviteRefused();
  const { org_id: orgId, role, id: inviteId } = invite;
  const row = membership({ orgId, userId: by.userId, role, now });
  const record = by.record({ target: orgId, data: { inviteId, role } });
  if (!(await orConflict(orgs.join(row, digest, [record]), alreadyMember))) {
    const isOpen = await orgs.openInvite(digest, iso(clock.now()));
    throw isOpen ? orgFull((await orgs.findAny(orgId))?.max_members ?? 0) : inviteRefused();
  }
  return orgId;
};

const inviteRefused = (): Boom.Boom =>
  Boom.forbidden(
    'The invite is wrong, already used, expired, or for another e-mail address. Ask the organization for a new one',
    { code: 'invite_refused' },
  );

export const updateAnyOrg = async (
  { orgs, clock, accounts, stopWork }: OrgsDeps,
  { id, changes }: { id: string; changes: AdminOrgChanges },
  by: By,
): Promise<void> => {
  const { password, approved, maxMembers, limits } = changes;
  if (approved === undefined && maxMembers === undefined && limits === undefined) {
    throw badRequest([{ path: 'approved', message: 'is required, or maxMembers or limits' }]);
  }
  const found = orNotFound(await orgs.findAny(id), 'No organization with that id');
  if (approved) await accounts.proveFresh(by, password);
  const at = iso(clock.now());
  const org = {
    ...(approved !== undefined && { approved_at: approved ? (found.approved_at ?? at) : null }),
    ...(maxMembers !== undefined && { max_members: maxMembers }),
  };
  const account = {
    ...(approved !== undefined && { disabled_at: approved ? null : at }),
    ...(limits && { limits: patchJson('limits', limits) }),
  };
  const record = by.record({ target: id, data: { approved, maxMembers, limits } });
  if (!(await orgs.updateAny(id, { org, account }, [record]))) {
    throw Boom.notFound('No organization with that id');
  }
  if (approved === false) await stopWork(id);
};

const requireMember = async (
  { orgs }: OrgsDeps,
  orgId: string,
  userId: string,
): Promise<NamedMemberRow> =>
  orNotFound(await orgs.member({ orgId, userId }), 'No member with that id');

interface NewMembership {
  orgId: string;
  userId: string;
  role: OrgRole;
  now: number;
}

export const membership = ({ orgId, userId, role, now }: NewMembership): OrgMemberRow => ({
  id: mint('member', now),
  org_id: orgId,
  user_id: userId,
  role,
  created_at: iso(now),
});

/** Nobody is notified of a change of their own. */
const noticeTo = (
  { outbox }: Pick<OrgsDeps, 'outbox'>,
  userId: string,
  by: By,
  { kind = 'org.membership', ...text }: Pick<Notice, 'title' | 'body'> & Partial<Notice>,
) =>
  userId === by.userId
    ? { statements: [], published: () => undefined }
    : outbox.toOwner(userId, { kind, ...text, link: null });

const orConflict = async (write: Promise<boolean>, conflict: () => Boom.Boom): Promise<boolean> => {
  try {
    return await write;
  } catch (error) {
    throw error instanceof UniqueViolation ? conflict() : error;
  }
};

const computeDigest = (token: string): string =>
  createHash('sha256').update(token).digest('base64url');
