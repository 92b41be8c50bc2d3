import { sql } from 'kysely';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import {
  deleteRows,
  insertRow,
  insertUpTo,
  selectCount,
  selectRows,
  updateRows,
} from '../../store/rows.js';
import { assertRows, type Store, statement } from '../../store/store.js';
import type { UserRow } from '../../store/tables/accounts.js';
import {
  type IdpRole,
  type OrgDomainRow,
  type OrgIdentityRow,
  type OrgMemberRow,
  type OrgRole,
  type OrgRow,
  type OrgSsoResultRow,
  type OrgSsoRow,
  orgDomainTable,
  orgGroupRoleTable,
  orgIdentityTable,
  orgMemberTable,
  orgSsoResultTable,
  orgSsoTable,
  type SamlLoginRow,
  type SamlRequestRow,
  samlAssertionTable,
  samlLoginTable,
  samlRequestTable,
} from '../../store/tables/orgs.js';
import { unchangedSince } from '../../store/updateif.js';
import { visibleTo } from '../../store/visible.js';
import { insertMember } from '../queries.js';

export const MAX_DOMAINS = 20;
const MAX_RESULTS = 20;

/** Settings of an organization that an admin has approved. */
export type SsoOrgRow = OrgSsoRow &
  Pick<OrgRow, 'slug' | 'name' | 'max_members'> & { scim_enabled: number | null };

/** An identity with its account and its membership, which may have ended. */
export type BoundIdentity = Pick<
  OrgIdentityRow,
  'id' | 'user_id' | 'name_id' | 'active' | 'deleted_at'
> &
  Pick<UserRow, 'role' | 'disabled_at' | 'managed_by'> & {
    member_id: string | null;
    member_role: OrgRole | null;
  };

interface SettingsSaving {
  read: OrgSsoRow;
  ownerId: string;
  groupRoles: [key: string, role: IdpRole][];
}

export const ssoStore = (store: Store) => {
  const { db } = store;
  const active = () =>
    db
      .selectFrom('org_sso')
      .innerJoin('orgs', 'orgs.id', 'org_sso.org_id')
      .leftJoin('org_scim', 'org_scim.org_id', 'orgs.id')
      .selectAll('org_sso')
      .select('org_scim.enabled as scim_enabled')
      .select(['orgs.slug', 'orgs.name', 'orgs.max_members'])
      .where('orgs.approved_at', 'is not', null)
      .where('org_sso.enabled', '=', 1);
  const identities = (orgId: string) =>
    db
      .selectFrom('org_identities as i')
      .innerJoin('users as u', 'u.id', 'i.user_id')
      .leftJoin('org_members as m', (on) =>
        on.onRef('m.org_id', '=', 'i.org_id').onRef('m.user_id', '=', 'i.user_id'),
      )
      .select(['i.id', 'i.user_id', 'i.name_id', 'i.active', 'i.deleted_at'])
      .select(['u.role', 'u.disabled_at', 'u.managed_by'])
      .select(['m.id as member_id', 'm.role as member_role'])
      .where('i.org_id', '=', orgId);

  return {
    settings: (orgId: string): Promise<OrgSsoRow | undefined> =>
      selectRows(db, orgSsoTable, { org_id: orgId }).executeTakeFirst(),

    /**
     * Returns false if the settings were changed since they were read, or the user is no owner any
     * more. `groupRoles` are the roles by the normal form of the name of a group, for SCIM.
     */
    saveSettings: (
      row: OrgSsoRow,
      { read, ownerId, groupRoles }: SettingsSaving,
      also: TransactionStep[],
    ): Promise<boolean> => {
      const { org_id, ...rest } = row;
      const verifiedDomains: string[] = JSON.parse(row.domains);
      const owner = selectRows(db, orgMemberTable, { org_id, role: 'owner' }, visibleTo(ownerId));
      return store.tryTransact([
        assertRows(owner, 1),
        ...verifiedDomains.map((domain) =>
          assertRows(
            selectRows(db, orgDomainTable, { org_id, domain }).where('verified_at', 'is not', null),
            1,
          ),
        ),
        statement(
          db
            .insertInto('org_sso')
            .values(row)
            .onConflict((on) => on.column('org_id').doUpdateSet(rest).where(unchangedSince(read))),
          1,
        ),
        statement(db.deleteFrom('org_group_roles').where('org_id', '=', org_id)),
        ...groupRoles.map(([group_key, role]) =>
          insertRow(orgGroupRoleTable, { org_id, group_key, role }),
        ),
        ...also,
      ]);
    },

    /** Undefined unless single sign-on is enabled and the organization approved. */
    enabledById: (orgId: string): Promise<SsoOrgRow | undefined> =>
      active().where('org_sso.org_id', '=', orgId).executeTakeFirst(),

    enabledBySlug: (slug: string): Promise<SsoOrgRow | undefined> =>
      active().where('orgs.slug', '=', slug).executeTakeFirst(),

    slugs: async (): Promise<string[]> => {
      const rows = await active().clearSelect().select('orgs.slug').limit(2).execute();
      return rows.map(({ slug }) => slug);
    },

    /** Also deletes expired requests. */
    insertRequest: async (row: SamlRequestRow, now: string, also: TransactionStep[] = []) => {
      await store.transact([
        statement(db.deleteFrom('saml_requests').where('expires_at', '<=', now)),
        insertRow(samlRequestTable, row),
        ...also,
      ]);
    },

    openRequest: (relayDigest: string, now: string): Promise<SamlRequestRow | undefined> =>
      selectRows(db, samlRequestTable, { relay_digest: relayDigest })
        .where('expires_at', '>', now)
        .executeTakeFirst(),

    identity: (
      orgId: string,
      { issuer, nameId }: { issuer: string; nameId: string },
    ): Promise<BoundIdentity | undefined> =>
      identities(orgId)
        .where('i.issuer', '=', issuer)
        .where('i.name_id', '=', nameId)
        .executeTakeFirst(),

    /** Provisioned for an account that this organization manages, and not bound to a NameID yet. */
    provisionedIdentity: (
      orgId: string,
      { nameId, key }: { nameId: string; key: string },
    ): Promise<BoundIdentity | undefined> =>
      identities(orgId)
        .where('i.name_id', 'is', null)
        .where('u.managed_by', '=', orgId)
        .where((of) => of.or([of('i.external_id', '=', nameId), of('i.user_name_key', '=', key)]))
        .orderBy((of) => of('i.external_id', 'is not distinct from', nameId), 'desc')
        .executeTakeFirst(),

    isNameTaken: async (orgId: string, key: string): Promise<boolean> =>
      (await selectRows(db, orgIdentityTable, {
        org_id: orgId,
        user_name_key: key,
      }).executeTakeFirst()) !== undefined,

    /** Returns false if the account is not linked. */
    unlink: (orgId: string, userId: string, also: TransactionStep[]): Promise<boolean> =>
      store.tryTransact([
        statement(deleteRows(db, orgIdentityTable, { org_id: orgId }).where(visibleTo(userId)), 1),
        ...also,
      ]),

    accountOf: (userId: string) =>
      db
        .selectFrom('users')
        .select(['username', 'role', 'disabled_at', 'managed_by'])
        .where('id', '=', userId)
        .executeTakeFirst(),

    commit: (steps: TransactionStep[]): Promise<void> =>
      store.transact(steps).then(() => undefined),

    steps: createLoginSteps(store),

    takeLogin: (code: string, now: string): Promise<SamlLoginRow | undefined> =>
      deleteRows(db, samlLoginTable, { code_digest: code })
        .where('expires_at', '>', now)
        .returning(samlLoginTable.columns)
        .executeTakeFirst(),

    login: (code: string, now: string): Promise<SamlLoginRow | undefined> =>
      selectRows(db, samlLoginTable, { code_digest: code })
        .where('expires_at', '>', now)
        .executeTakeFirst(),

    /** Unmet if the identity was disabled, or single sign-on turned off. */
    mayLogIn: ({ org_id, user_id }: Pick<SamlLoginRow, 'org_id' | 'user_id'>): Statement =>
      assertRows(
        db
          .selectFrom('org_identities as i')
          .innerJoin('org_sso as s', 's.org_id', 'i.org_id')
          .innerJoin('orgs as o', 'o.id', 'i.org_id')
          .innerJoin('org_members as m', (on) =>
            on.onRef('m.org_id', '=', 'i.org_id').onRef('m.user_id', '=', 'i.user_id'),
          )
          .innerJoin('users as u', 'u.id', 'i.user_id')
          .select('i.id')
          .where('i.org_id', '=', org_id)
          .where(visibleTo(user_id, 'i'))
          .where('i.active', '=', 1)
          .where('i.deleted_at', 'is', null)
          .where('s.enabled', '=', 1)
          .where('o.approved_at', 'is not', null)
          .where('u.role', '=', 'user')
          .where((of) => of.or([of('u.managed_by', 'is', null), of('u.managed_by', '=', org_id)])),
        1,
      ),

    /** Keeps the newest results. */
    addResult: async (row: OrgSsoResultRow, also: TransactionStep[]): Promise<void> => {
      await store.transact([...createLoginSteps(store).result(row), ...also]);
    },

    results: (orgId: string): Promise<OrgSsoResultRow[]> =>
      selectRows(db, orgSsoResultTable, { org_id: orgId })
        .orderBy('id', 'desc')
        .limit(2 * MAX_RESULTS)
        .execute(),

    domains: (orgId: string): Promise<OrgDomainRow[]> =>
      selectRows(db, orgDomainTable, { org_id: orgId }).orderBy('domain').execute(),

    domain: (orgId: string, domain: string): Promise<OrgDomainRow | undefined> =>
      selectRows(db, orgDomainTable, { org_id: orgId, domain }).executeTakeFirst(),

    /** Throws `UniqueViolation` if the organization has the domain. False if it has too many. */
    insertDomain: (row: OrgDomainRow, also: TransactionStep[]): Promise<boolean> => {
      const count = selectCount(db, orgDomainTable, { org_id: row.org_id });
      const insert = insertUpTo(db, orgDomainTable, row, { count, most: MAX_DOMAINS });
      return store.tryTransact([statement(insert, 1), ...also]);
    },

    /** Throws `UniqueViolation` if another organization has verified the domain. */
    verifyDomain: (id: string, at: string, also: TransactionStep[]): Promise<boolean> =>
      store.tryTransact([
        statement(
          updateRows(db, orgDomainTable, { id }).set({
            verified_at: sql`coalesce(verified_at, ${at})`,
          }),
          1,
        ),
        ...also,
      ]),

    /** Also removes the domain from the settings. */
    deleteDomain: (orgId: string, domain: string, also: TransactionStep[]): Promise<boolean> =>
      store.tryTransact([
        statement(deleteRows(db, orgDomainTable, { org_id: orgId, domain }), 1),
        statement(
          updateRows(db, orgSsoTable, { org_id: orgId }).set({
            domains: sql`(SELECT json_group_array(value) FROM json_each(domains)
              WHERE value <> ${domain})`,
          }),
        ),
        ...also,
      ]),
  };
};

export type SsoStore = ReturnType<typeof ssoStore>;

/** Steps of the transaction that accepts a response. */
const createLoginSteps = (store: Store) => {
  const { db } = store;
  return {
    /** A response uses up its request. */
    spendRequest: ({ id }: Pick<SamlRequestRow, 'id'>): Statement =>
      statement(deleteRows(db, samlRequestTable, { id }), 1),

    /** Violates a constraint if the assertion was used before. Also deletes expired ones. */
    spendAssertion: (
      row: { org_id: string; assertion_id: string; expires_at: string },
      now: string,
    ): Statement[] => [
      statement(db.deleteFrom('saml_assertions').where('expires_at', '<=', now)),
      insertRow(samlAssertionTable, row),
    ],

    insertLogin: (row: SamlLoginRow, now: string): Statement[] => [
      statement(db.deleteFrom('saml_logins').where('expires_at', '<=', now)),
      insertRow(samlLoginTable, row),
    ],

    insertIdentity: (row: OrgIdentityRow): Statement => insertRow(orgIdentityTable, row),

    /** Unmet if the identity was bound, disabled or deleted meanwhile. */
    bindIdentity: (
      id: string,
      { issuer, nameId, at }: { issuer: string; nameId: string; at: string },
    ): Statement =>
      statement(
        updateRows(db, orgIdentityTable, { id, active: 1, deleted_at: null })
          .set({ issuer, name_id: nameId, last_login_at: at })
          .where((of) => of.or([of('name_id', 'is', null), of('name_id', '=', nameId)])),
        1,
      ),

    insertMember: (row: OrgMemberRow): Statement => insertMember(store, row),

    /** Owners stay owners. */
    setMemberRole: (id: string, role: Exclude<OrgRole, 'owner'>): Statement =>
      statement(
        db
          .updateTable('org_members')
          .set({ role })
          .where('id', '=', id)
          .where('role', '<>', 'owner'),
      ),

    /** Responses without a valid signature, which anybody can send, displace only each other. */
    result: (row: OrgSsoResultRow): Statement[] => [
      insertRow(orgSsoResultTable, row),
      statement(
        db
          .deleteFrom('org_sso_results')
          .where('org_id', '=', row.org_id)
          .where('name_id', row.name_id === null ? 'is' : 'is not', null)
          .where(
            'id',
            'not in',
            db
              .selectFrom('org_sso_results as newest')
              .select('newest.id')
              .where('newest.org_id', '=', row.org_id)
              .where('newest.name_id', row.name_id === null ? 'is' : 'is not', null)
              .orderBy('newest.id', 'desc')
              .limit(MAX_RESULTS),
          ),
      ),
    ],
  };
};
