import { createHash } from 'node:crypto';
import Boom from '@hapi/boom';
import { sql } from 'kysely';
import { mint } from '../../kernel/ids.js';
import { ExpectationFailed, type TransactionStep } from '../../store/engine/protocol.js';
import type { OrgIdentityRow } from '../../store/tables/orgs.js';
import { ACCOUNTS_PER_SEAT } from '../rules.js';
import { lastOwner, membership, orgFull, roleRequired } from '../service.js';
import { patchUser, readPatch, readUser, USER_SCHEMA, type UserAttributes } from './attributes.js';
import { type Attribute, createCompare, scimFault } from './filter.js';
import type { GroupLink, IdentityRow } from './queries.js';
import {
  createReader,
  notUnique,
  type ScimContext,
  type ScimDeps,
  type ScimResource,
} from './resource.js';

const WORK = sql`CASE WHEN org_identities.email IS NOT NULL THEN 'work' END`;
const PRIMARY = sql`CASE WHEN org_identities.email IS NOT NULL THEN 1 END`;

const column = (name: keyof OrgIdentityRow) => sql.ref(`org_identities.${name}`);

const ATTRIBUTES: Record<string, Attribute> = {
  id: { of: column('id'), kind: 'exact' },
  externalid: { of: column('external_id'), kind: 'exact' },
  username: { of: column('user_name_key'), kind: 'key' },
  displayname: { of: column('display_name'), kind: 'text' },
  'name.givenname': { of: column('given_name'), kind: 'text' },
  'name.familyname': { of: column('family_name'), kind: 'text' },
  active: { of: column('active'), kind: 'boolean' },
  emails: { of: column('email'), kind: 'text' },
  'emails.value': { of: column('email'), kind: 'text' },
  'emails.type': { of: WORK, kind: 'text' },
  'emails.primary': { of: PRIMARY, kind: 'boolean' },
  'meta.created': { of: column('created_at'), kind: 'time' },
  'meta.lastmodified': { of: column('updated_at'), kind: 'time' },
};

export const createUsers = (deps: ScimDeps): ScimResource => {
  const { scim, accounts } = deps;
  const { find, list, get } = createReader<IdentityRow>(scim, {
    noun: 'user',
    linked: 'groups',
    attributes: ATTRIBUTES,
    compare: createCompare(ATTRIBUTES, accounts.keyOf),
    find: scim.user,
    list: scim.listUsers,
    versionOf,
    view: viewUser,
  });

  const change = async (
    context: ScimContext,
    row: IdentityRow,
    attributes: UserAttributes,
  ): Promise<void> => {
    const columns = columnsOf(attributes, { now: context.now, keyOf: accounts.keyOf });
    await writeUser(deps, context, { from: row, to: { ...row, ...columns } });
  };

  return {
    list,
    get,

    create: async (context, call) => {
      const attributes = readUser(call.body, 1);
      const { user_name: userName, external_id: externalId } = attributes;
      if (userName === null) throw scimFault('invalidValue', 'userName is required');
      const found = await scim.namesakes(context.org.id, accounts.keyOf(userName), externalId);
      if (found.some(({ deleted_at }) => deleted_at === null)) throw notUnique('Users');
      const [former] = found;
      if (former) await change(context, former, attributes);
      const id = former?.id ?? (await createUser(deps, context, attributes));
      return get(context, { ...call, id }, 201);
    },

    replace: async (context, call) => {
      const row = await find(context, call);
      await change(context, row, readUser(call.body, row.active));
      return get(context, call);
    },

    patch: async (context, call) => {
      const row = await find(context, call);
      await change(context, row, patchUser(row, readPatch(call.body)));
      return get(context, call);
    },

    delete: async (context, call) => {
      const row = await find(context, call);
      const next = { ...row, active: 0, deleted_at: context.now, updated_at: context.now };
      await writeUser(deps, context, { from: row, to: next });
      return { status: 204, body: null, headers: {} };
    },
  };
};

const columnsOf = (
  { user_name: userName, ...attributes }: UserAttributes,
  { now, keyOf }: { now: string; keyOf(name: string): string },
) => {
  if (userName === null) throw scimFault('invalidValue', 'userName is required');
  const names = { user_name: userName, user_name_key: keyOf(userName) };
  return { ...attributes, ...names, deleted_at: null, updated_at: now };
};

/** Resolves to the ID of the user. The account gets an address only of a verified domain. */
const createUser = async (
  deps: ScimDeps,
  context: ScimContext,
  attributes: UserAttributes,
): Promise<string> => {
  const { scim, orgs, managed, clock } = deps;
  const { org, now } = context;
  const row = {
    id: mint('identity', clock.now()),
    org_id: org.id,
    issuer: null,
    name_id: null,
    last_login_at: null,
    created_at: now,
    disabled_at: null,
    ...columnsOf(attributes, { now, keyOf: deps.accounts.keyOf }),
  };
  const { id, user_name: userName } = row;
  // Inactive users take no seat.
  if ((await managed.count(org.id)) >= ACCOUNTS_PER_SEAT * org.max_members) {
    throw orgFull(org.max_members);
  }
  const email = await scim.ownedEmail(org.id, row.email);
  const member = { orgId: org.id, role: 'member' as const, now: clock.now() };
  try {
    const userId = await managed.create({ orgId: org.id, prefix: org.slug, email }, (userId) => [
      scim.insertUser({ ...row, user_id: userId }),
      ...(attributes.active ? [orgs.joinStep(membership({ ...member, userId }))] : []),
      context.audit('scim.user-create', { identityId: id, userId, userName }),
    ]);
    if (!attributes.active) {
      const of = { userId, orgId: org.id };
      await managed.setDisabled(of, true, [scim.noteDisabled(id)]);
    }
    return id;
  } catch (error) {
    throw error instanceof ExpectationFailed ? orgFull(org.max_members) : error;
  }
};

/**
 * An inactive user is no member. The account is disabled as well if the organization manages it,
 * and enabled again unless somebody else disabled it.
 */
const writeUser = async (
  deps: ScimDeps,
  context: ScimContext,
  { from, to }: { from: IdentityRow; to: IdentityRow },
): Promise<void> => {
  const { scim, orgs, managed, store, clock } = deps;
  const { org } = context;
  const { id, user_id: userId } = from;
  const { managed_by, account_disabled_at, ...row } = to;
  const isActive = row.active === 1;
  const member = await orgs.member({ orgId: org.id, userId });
  if (!isActive && member?.role === 'owner') await refuseUnlessOwner(deps, context);
  const isDisabledHere = from.disabled_at !== null && from.disabled_at === account_disabled_at;
  // Somebody who left, or was removed, comes back only if the provider enables the user again.
  const joins = isActive && !member && (from.active === 0 || from.deleted_at !== null);
  const isToggled =
    managed_by === org.id && (isActive ? isDisabledHere : account_disabled_at === null);
  const steps: TransactionStep[] = [
    ...scim.releaseNames(row),
    scim.updateUser(isActive ? { ...row, disabled_at: null } : row),
    ...(row.deleted_at === null ? [] : [scim.leaveGroups(id)]),
    ...(isToggled && !isActive ? [scim.noteDisabled(id)] : []),
    ...(joins
      ? [
          orgs.joinStep(membership({ orgId: org.id, userId, role: 'member', now: clock.now() })),
          scim.applyGroupRoles(org.id, [id]),
        ]
      : []),
    ...(!isActive && member ? [orgs.leaveStep(member)] : []),
    context.audit(actionOf(from, to), { identityId: id, userId, userName: row.user_name }),
  ];
  const isDone = isToggled
    ? await managed.setDisabled({ userId, orgId: org.id }, !isActive, steps)
    : await store.tryTransact(steps);
  if (isDone) {
    if (!isActive && member) await managed.endMembership({ userId, orgId: org.id });
    return;
  }
  if (!isActive && member?.role === 'owner') throw lastOwner();
  if (joins) throw orgFull(org.max_members);
  throw Boom.conflict('The user was changed meanwhile. Try again');
};

/** The identity provider acts for the owners, who created its token. */
const refuseUnlessOwner = async ({ orgs }: ScimDeps, { by, org }: ScimContext): Promise<void> => {
  if ('providerOf' in by) return;
  const own = await orgs.member({ orgId: org.id, userId: by.userId });
  if (own?.role !== 'owner') throw roleRequired(['owner']);
};

const actionOf = (from: IdentityRow, { active, deleted_at }: IdentityRow): string => {
  if (deleted_at !== null) return 'scim.user-delete';
  if (active === from.active && from.deleted_at === null) return 'scim.user-update';
  return active === 1 ? 'scim.user-enable' : 'scim.user-disable';
};

const versionOf = (row: OrgIdentityRow): string => {
  const { user_name, external_id, display_name, given_name, family_name, email, active } = row;
  const names = [user_name, external_id, display_name, given_name, family_name, email];
  const shown = JSON.stringify([...names, active, row.updated_at]);
  return `W/"${createHash('sha256').update(shown).digest('base64url').slice(0, 20)}"`;
};

const viewUser = (row: IdentityRow, groups: GroupLink[], base: string) => {
  const { id, email, given_name: givenName, family_name: familyName } = row;
  const formatted = [givenName, familyName].filter((part) => part !== null).join(' ');
  return {
    schemas: [USER_SCHEMA],
    id,
    ...(row.external_id !== null && { externalId: row.external_id }),
    userName: row.user_name,
    ...(formatted !== '' && {
      name: {
        formatted,
        ...(givenName !== null && { givenName }),
        ...(familyName !== null && { familyName }),
      },
    }),
    ...(row.display_name !== null && { displayName: row.display_name }),
    active: row.active === 1,
    ...(email !== null && { emails: [{ value: email, type: 'work', primary: true }] }),
    groups: groups.map(({ group_id: value, display_name: display }) => ({
      value,
      $ref: `${base}/Groups/${value}`,
      display,
      type: 'direct',
    })),
    meta: {
      resourceType: 'User',
      created: row.created_at,
      lastModified: row.updated_at,
      location: `${base}/Users/${id}`,
      version: versionOf(row),
    },
  };
};
