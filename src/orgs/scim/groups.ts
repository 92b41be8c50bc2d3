import Boom from '@hapi/boom';
import { sql } from 'kysely';
import { mint } from '../../kernel/ids.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { OrgGroupRow } from '../../store/tables/orgs.js';
import {
  attributeOf,
  GROUP_SCHEMA,
  isJsonObject,
  type PatchOperation,
  readPatch,
  readTextValue,
} from './attributes.js';
import { type Attribute, type Compare, createCompare, scimFault } from './filter.js';
import type { GroupLink } from './queries.js';
import { createReader, type ScimContext, type ScimDeps, type ScimResource } from './resource.js';

const column = (name: keyof OrgGroupRow) => sql.ref(`org_groups.${name}`);

const ATTRIBUTES: Record<string, Attribute> = {
  id: { of: column('id'), kind: 'exact' },
  externalid: { of: column('external_id'), kind: 'exact' },
  displayname: { of: column('display_key'), kind: 'key' },
  'meta.created': { of: column('created_at'), kind: 'time' },
  'meta.lastmodified': { of: column('updated_at'), kind: 'time' },
};

interface GroupState {
  row: OrgGroupRow;
  members: string[];
}

export const createGroups = (deps: ScimDeps): ScimResource => {
  const { scim, accounts, store, clock } = deps;
  const compareColumns = createCompare(ATTRIBUTES, accounts.keyOf);
  const compare: Compare = (path, operator, value) => {
    const isMember = path === 'members' || path === 'members.value';
    if (!isMember || operator !== 'eq') return compareColumns(path, operator, value);
    return sql`EXISTS (SELECT 1 FROM org_group_members
      WHERE group_id = org_groups.id AND identity_id = ${value})`;
  };

  const { find, list, get } = createReader(scim, {
    noun: 'group',
    linked: 'members',
    attributes: ATTRIBUTES,
    compare,
    find: scim.group,
    list: scim.listGroups,
    versionOf,
    view: viewGroup,
  });

  const membersOf = async (id: string): Promise<string[]> =>
    (await scim.links('group_id', [id])).map(({ identity_id }) => identity_id);

  const save = async (
    context: ScimContext,
    { row, members }: GroupState,
    { before, also }: { before: string[]; also: TransactionStep[] },
  ): Promise<void> => {
    const { org } = context;
    const added = without(members, before);
    const [unknown] = without(added, await scim.knownUsers(org.id, added));
    if (unknown !== undefined) {
      throw scimFault('invalidValue', `members contains no user of the organization: ${unknown}`);
    }
    const isDone = await store.tryTransact([
      ...also,
      ...scim.setMembers(row.id, members),
      scim.applyGroupRoles(org.id, [...before, ...added]),
    ]);
    if (!isDone) throw Boom.conflict('The group was changed meanwhile. Try again');
  };

  const update = async (
    context: ScimContext,
    row: OrgGroupRow,
    { before, next }: { before: string[]; next: GroupState },
  ): Promise<void> => {
    const { id, display_name: displayName } = next.row;
    const changed = { ...next.row, revision: row.revision + 1, updated_at: context.now };
    const record = context.audit('scim.group-update', {
      groupId: id,
      displayName,
      members: next.members.length,
      ...describeChange(before, next.members),
    });
    await save(context, next, { before, also: [scim.updateGroup(changed), record] });
  };

  return {
    list,
    get,

    create: async (context, call) => {
      const { now, org } = context;
      const { body } = call;
      const id = mint('group', clock.now());
      const times = { created_at: now, updated_at: now };
      const names = readNames(body, accounts.keyOf);
      const row = { id, org_id: org.id, revision: 1, ...names, ...times };
      const members = readMembers(attributeOf(body, 'members'));
      const record = context.audit('scim.group-create', {
        groupId: id,
        displayName: row.display_name,
        members: members.length,
      });
      const also = [scim.insertGroup(row), record];
      await save(context, { row, members }, { before: [], also });
      return get(context, { ...call, id }, 201);
    },

    replace: async (context, call) => {
      const { id, body } = call;
      const row = await find(context, call);
      const members = readMembers(attributeOf(body, 'members'));
      const next = { row: { ...row, ...readNames(body, accounts.keyOf) }, members };
      await update(context, row, { before: await membersOf(id), next });
      return get(context, call);
    },

    patch: async (context, call) => {
      const { id, body } = call;
      const row = await find(context, call);
      const before = await membersOf(id);
      const members = new Set(before);
      const patched = readPatch(body).reduce(
        (state, operation) => patchGroup(state, members, { operation, keyOf: accounts.keyOf }),
        row,
      );
      await update(context, row, { before, next: { row: patched, members: [...members] } });
      return { status: 204, body: null, headers: {} };
    },

    delete: async (context, call) => {
      const row = await find(context, call);
      const { id } = row;
      const data = { groupId: id, displayName: row.display_name };
      await store.tryTransact([
        ...scim.setMembers(id, []),
        scim.applyGroupRoles(context.org.id, await membersOf(id)),
        scim.deleteGroup(row),
        context.audit('scim.group-delete', data),
      ]);
      return { status: 204, body: null, headers: {} };
    },
  };
};

const MAX_AUDITED = 100;

/** IDs of users who joined or left the group, at most 100 each. */
const describeChange = (before: string[], after: string[]) => {
  return {
    added: without(after, before).slice(0, MAX_AUDITED),
    removed: without(before, after).slice(0, MAX_AUDITED),
  };
};

const readNames = (body: Record<string, unknown>, keyOf: (name: string) => string) => {
  const displayName = readTextValue('displayName', attributeOf(body, 'displayName'));
  if (displayName === null) throw scimFault('invalidValue', 'displayName is required');
  const externalId = readTextValue('externalId', attributeOf(body, 'externalId'));
  return { display_name: displayName, display_key: keyOf(displayName), external_id: externalId };
};

/** Accepts a list, one object, and plain IDs. */
const readMembers = (value: unknown): string[] => {
  if (value === null || value === undefined) return [];
  const ids = (Array.isArray(value) ? value : [value]).map((each) =>
    isJsonObject(each) ? attributeOf(each, 'value') : each,
  );
  if (!ids.every((id) => typeof id === 'string')) {
    throw scimFault('invalidValue', 'members must be a list of objects with the ID as value');
  }
  return [...new Set(ids)];
};

/** `value eq "…"`, possibly several with `or`. */
const MEMBER_FILTER = /^\s*value\s+eq\s+"([^"\\]*)"\s*(?:or\s+(?=value)|$)/i;

const readMemberFilter = (filter: string): string[] => {
  const ids: string[] = [];
  for (let rest = filter; rest !== ''; ) {
    const found = MEMBER_FILTER.exec(rest);
    if (!found)
      throw scimFault('invalidFilter', 'members supports only the filter value eq "<id>"');
    ids.push(found[1] ?? '');
    rest = rest.slice(found[0].length);
  }
  return ids;
};

/** Changes the members in place, since a copy for each operation would take quadratic time. */
const patchGroup = (
  row: OrgGroupRow,
  members: Set<string>,
  { operation, keyOf }: { operation: PatchOperation; keyOf(name: string): string },
): OrgGroupRow => {
  const { kind, path, value } = operation;
  if (path === 'members') {
    patchMembers(members, operation);
    return row;
  }
  const given = kind === 'remove' ? null : value;
  if (path === 'externalid') return { ...row, external_id: readTextValue('externalId', given) };
  if (path !== 'displayname') return row;
  const { external_id: externalId } = row;
  return { ...row, ...readNames({ displayName: given, externalId }, keyOf) };
};

const patchMembers = (members: Set<string>, { kind, filter, value }: PatchOperation): void => {
  const ids = filter === null ? readMembers(value) : readMemberFilter(filter);
  const isAll = filter === null && (kind === 'replace' || value === null);
  if (kind === 'replace' && filter !== null && !ids.some((id) => members.has(id))) {
    throw scimFault('noTarget', 'No member matches the filter');
  }
  if (kind !== 'add') {
    if (isAll) members.clear();
    else for (const id of ids) members.delete(id);
  }
  const added = kind === 'replace' && filter !== null ? readMembers(value) : ids;
  if (kind !== 'remove') for (const id of added) members.add(id);
};

const without = (members: string[], ids: string[]): string[] => {
  const gone = new Set(ids);
  return members.filter((id) => !gone.has(id));
};

const versionOf = ({ revision }: OrgGroupRow): string => `W/"${revision}"`;

const viewGroup = (row: OrgGroupRow, members: GroupLink[], base: string) => ({
  schemas: [GROUP_SCHEMA],
  id: row.id,
  ...(row.external_id !== null && { externalId: row.external_id }),
  displayName: row.display_name,
  members: members.map(({ identity_id: value, user_name: display }) => ({
    value,
    $ref: `${base}/Users/${value}`,
    display,
    type: 'User',
  })),
  meta: {
    resourceType: 'Group',
    created: row.created_at,
    lastModified: row.updated_at,
    location: `${base}/Groups/${row.id}`,
    version: versionOf(row),
  },
});
