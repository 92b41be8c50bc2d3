import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { deleteRows, insertRow, selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import {
  type OrgGroupRow,
  type OrgIdentityRow,
  type OrgScimLogRow,
  orgDomainTable,
  orgGroupTable,
  orgIdentityTable,
  orgScimLogTable,
} from '../../store/tables/orgs.js';
import { visibleTo } from '../../store/visible.js';
import { MANAGERS } from '../rules.js';
import type { FilterCondition } from './filter.js';

/** A user of an identity provider, with facts about the account. */
export type IdentityRow = OrgIdentityRow & {
  managed_by: string | null;
  account_disabled_at: string | null;
};
export interface ScimOrgRow {
  id: string;
  slug: string;
  approved_at: string | null;
  max_members: number;
  enabled: number | null;
  token_digest: string | null;
  last_used_at: string | null;
}
export interface GroupLink {
  identity_id: string;
  group_id: string;
  user_name: string;
  display_name: string;
}
type LinkColumn = 'group_id' | 'identity_id';
export interface ListInput {
  orgId: string;
  where: FilterCondition | null;
  sortBy: RawBuilder<unknown> | null;
  isDescending: boolean;
  offset: number;
  limit: number;
}

const MAX_LOG = 1000;

const ORG = [
  'orgs.id',
  'orgs.slug',
  'orgs.approved_at',
  'orgs.max_members',
  'org_scim.enabled',
  'org_scim.token_digest',
  'org_scim.last_used_at',
] as const;

/** Members of a JSON list. */
const within = (ids: string[]) =>
  sql<string>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`;

/** In the given order, and then by ID. */
const readPage = async <DB, T extends keyof DB, R>(
  all: SelectQueryBuilder<DB, T, R>,
  { where, sortBy, isDescending, offset, limit, id }: Omit<ListInput, 'orgId'> & { id: string },
): Promise<{ rows: R[]; total: number }> => {
  const found = where ? all.where(where) : all;
  const count = found.clearSelect().select(({ fn }) => fn.countAll<number>().as('total'));
  const { total } = await count.$castTo<{ total: number }>().executeTakeFirstOrThrow();
  if (limit === 0) return { rows: [], total };
  const sorted = sortBy ? found.orderBy(sortBy, isDescending ? 'desc' : 'asc') : found;
  const page = sorted.orderBy(sql.ref(id)).limit(limit).offset(offset);
  return { rows: await page.execute(), total };
};

export const scimStore = (store: Store) => {
  const { db } = store;
  const orgs = () =>
    db.selectFrom('orgs').leftJoin('org_scim', 'org_scim.org_id', 'orgs.id').select(ORG);
  const identities = (orgId: string) =>
    db
      .selectFrom('org_identities')
      .innerJoin('users', 'users.id', 'org_identities.user_id')
      .select(orgIdentityTable.columns.map((column) => `org_identities.${column}` as const))
      .select('users.disabled_at as account_disabled_at')
      // An account that became an admin of the installation is nobody's to disable.
      .select(
        sql<string | null>`CASE WHEN users.role = 'user' THEN users.managed_by END`.as(
          'managed_by',
        ),
      )
      .where('org_id', '=', orgId);

  return {
    org: (orgId: string): Promise<ScimOrgRow | undefined> =>
      orgs().where('orgs.id', '=', orgId).executeTakeFirst(),

    /** At most two organizations that the user manages. Without a slug, only those with SCIM. */
    managedBy: (userId: string, slug: string | undefined): Promise<ScimOrgRow[]> => {
      let query = orgs()
        .innerJoin('org_members as own', 'own.org_id', 'orgs.id')
        .where(visibleTo(userId, 'own'))
        .where('own.role', 'in', MANAGERS);
      query =
        slug === undefined
          ? query.where('org_scim.enabled', '=', 1)
          : query.where('orgs.slug', '=', slug);
      return query.limit(2).execute();
    },

    saveSettings: (
      orgId: string,
      set: { enabled: number } | { token_digest: string | null },
      also: TransactionStep[],
    ): Promise<boolean> =>
      store.tryTransact([
        statement(
          db
            .insertInto('org_scim')
            .values({ org_id: orgId, enabled: 0, token_digest: null, last_used_at: null, ...set })
            .onConflict((conflict) => conflict.column('org_id').doUpdateSet(set)),
          1,
        ),
        ...also,
      ]),

    /** Also removes the oldest entries of the organization. */
    addLog: async (row: OrgScimLogRow, isUse: boolean): Promise<void> => {
      const oldest = db
        .selectFrom('org_scim_log')
        .select('id')
        .where('org_id', '=', row.org_id)
        .orderBy('id', 'desc')
        .limit(1)
        .offset(MAX_LOG);
      const steps = [
        insertRow(orgScimLogTable, row),
        statement(
          deleteRows(db, orgScimLogTable, { org_id: row.org_id }).where('id', '<=', oldest),
        ),
      ];
      const used = db
        .updateTable('org_scim')
        .set({ last_used_at: row.created_at })
        .where('org_id', '=', row.org_id);
      await store.transact(isUse ? [...steps, statement(used)] : steps);
    },

    log: (orgId: string, page: PageInput): Promise<Page<OrgScimLogRow>> =>
      newestFirst(selectRows(db, orgScimLogTable, { org_id: orgId }), page),

    listUsers: ({ orgId, ...input }: ListInput) =>
      readPage(identities(orgId).where('org_identities.deleted_at', 'is', null), {
        ...input,
        id: 'org_identities.id',
      }),

    user: (orgId: string, id: string): Promise<IdentityRow | undefined> =>
      identities(orgId)
        .where('org_identities.id', '=', id)
        .where('org_identities.deleted_at', 'is', null)
        .executeTakeFirst(),

    /** Also deleted ones. First those with the same external ID. */
    namesakes: (orgId: string, key: string, externalId: string | null): Promise<IdentityRow[]> =>
      identities(orgId)
        .where((of) =>
          of.or([
            of('user_name_key', '=', key),
            ...(externalId === null ? [] : [of('external_id', '=', externalId)]),
          ]),
        )
        .orderBy(sql`external_id IS ${externalId}`, 'desc')
        .execute(),

    /** Deleted users lose a name or external ID that another user gets. */
    releaseNames: ({
      id,
      org_id,
      user_name_key,
      external_id,
    }: OrgIdentityRow): TransactionStep[] => {
      const deleted = () =>
        db
          .updateTable('org_identities')
          .where('org_id', '=', org_id)
          .where('id', '<>', id)
          .where('deleted_at', 'is not', null);
      const names = deleted().set((of) => ({ user_name_key: of.ref('id') }));
      const externals = deleted().set({ external_id: null });
      return [
        statement(names.where('user_name_key', '=', user_name_key)),
        ...(external_id === null
          ? []
          : [statement(externals.where('external_id', '=', external_id))]),
      ];
    },

    insertUser: (row: OrgIdentityRow): TransactionStep => insertRow(orgIdentityTable, row),

    /** Without the columns of SAML, which a login may change meanwhile. */
    updateUser: (row: OrgIdentityRow): TransactionStep => {
      const { id, org_id, user_id, issuer, name_id, last_login_at, ...set } = row;
      return statement(updateRows(db, orgIdentityTable, { id, org_id, user_id }).set(set), 1);
    },

    /** Null unless the organization has verified the domain of the address. */
    ownedEmail: async (orgId: string, email: string | null): Promise<string | null> => {
      const domain = /^[^@\s]+@([^@\s]+)$/.exec(email ?? '')?.[1]?.toLowerCase();
      if (domain === undefined) return null;
      const found = selectRows(db, orgDomainTable, { org_id: orgId, domain });
      const isVerified = found.where('verified_at', 'is not', null);
      return (await isVerified.executeTakeFirst()) ? email : null;
    },

    /** After the account was disabled in the same transaction. */
    noteDisabled: (id: string): TransactionStep =>
      statement(
        db
          .updateTable('org_identities')
          .set({ disabled_at: sql`(SELECT disabled_at FROM users WHERE users.id = user_id)` })
          .where('id', '=', id),
      ),

    /** Memberships of groups or users. */
    links: (by: LinkColumn, ids: string[]): Promise<GroupLink[]> =>
      db
        .selectFrom('org_group_members')
        .innerJoin('org_groups', 'org_groups.id', 'group_id')
        .innerJoin('org_identities', 'org_identities.id', 'identity_id')
        .select(['group_id', 'identity_id', 'org_groups.display_name', 'user_name'])
        .where(by, 'in', within(ids))
        .orderBy('display_key')
        .orderBy('identity_id')
        .execute(),

    /** Number of memberships by the ID of the group or user. */
    countLinks: async (by: LinkColumn, ids: string[]): Promise<Map<string, number>> => {
      const rows = db
        .selectFrom('org_group_members')
        .select(({ fn }) => [`${by} as id` as const, fn.countAll<number>().as('count')])
        .where(by, 'in', within(ids))
        .groupBy(by);
      return new Map((await rows.execute()).map(({ id, count }) => [id, count]));
    },

    listGroups: ({ orgId, ...input }: ListInput) =>
      readPage(selectRows(db, orgGroupTable, { org_id: orgId }), { ...input, id: 'id' }),

    group: (orgId: string, id: string): Promise<OrgGroupRow | undefined> =>
      selectRows(db, orgGroupTable, { org_id: orgId, id }).executeTakeFirst(),

    /** IDs of the list that are users of the organization. */
    knownUsers: async (orgId: string, ids: string[]): Promise<string[]> => {
      const rows = db
        .selectFrom('org_identities')
        .select('id')
        .where('org_id', '=', orgId)
        .where('deleted_at', 'is', null)
        .where('id', 'in', within(ids));
      return (await rows.execute()).map(({ id }) => id);
    },

    insertGroup: (row: OrgGroupRow): TransactionStep => insertRow(orgGroupTable, row),

    updateGroup: ({ id, org_id, ...set }: OrgGroupRow): TransactionStep =>
      statement(updateRows(db, orgGroupTable, { id, org_id }).set(set), 1),

    deleteGroup: ({ id, org_id }: OrgGroupRow): TransactionStep =>
      statement(deleteRows(db, orgGroupTable, { id, org_id }), 1),

    /** The group has exactly these members afterwards. */
    setMembers: (groupId: string, ids: string[]): TransactionStep[] => [
      statement(
        db
          .deleteFrom('org_group_members')
          .where('group_id', '=', groupId)
          .where('identity_id', 'not in', within(ids)),
      ),
      statement(
        db
          .insertInto('org_group_members')
          .columns(['group_id', 'identity_id'])
          .expression(
            db
              .selectFrom('org_identities')
              .select((of) => [of.val(groupId).as('group_id'), 'id'])
              .where('id', 'in', within(ids)),
          )
          .onConflict((conflict) => conflict.doNothing()),
      ),
    ],

    leaveGroups: (identityId: string): TransactionStep =>
      statement(db.deleteFrom('org_group_members').where('identity_id', '=', identityId)),

    /** Roles by groups, if the organization has such roles. Owners stay owners. */
    applyGroupRoles: (orgId: string, identityIds: string[]): TransactionStep => {
      const role = sql<'admin' | 'member'>`CASE WHEN EXISTS (SELECT 1 FROM org_identities AS i
        JOIN org_group_members AS m ON m.identity_id = i.id
        JOIN org_groups AS g ON g.id = m.group_id
        JOIN org_group_roles AS r ON r.org_id = g.org_id AND r.group_key = g.display_key
        WHERE i.org_id = ${orgId} AND i.user_id = org_members.user_id AND r.role = 'admin')
        THEN 'admin' ELSE 'member' END`;
      return statement(
        db
          .updateTable('org_members')
          .set({ role })
          .where('org_id', '=', orgId)
          .where(sql<boolean>`role NOT IN ('owner', ${role})
            AND EXISTS (SELECT 1 FROM org_group_roles WHERE org_id = ${orgId})
            AND user_id IN (SELECT user_id FROM org_identities
              WHERE org_id = ${orgId} AND id IN ${within(identityIds)})`),
      );
    },
  };
};

export type ScimStore = ReturnType<typeof scimStore>;
