import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';
import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../store/page.js';
import {
  deleteRows,
  insertRow,
  insertUpTo,
  selectCount,
  selectRows,
  updateRows,
} from '../store/rows.js';
import { assertRows, type Store, statement } from '../store/store.js';
import { userTable } from '../store/tables/accounts.js';
import {
  type OrgInviteRow,
  type OrgMemberRow,
  type OrgRole,
  type OrgRow,
  orgIdentityTable,
  orgInviteTable,
  orgMemberTable,
  orgTable,
} from '../store/tables/orgs.js';
import type { Tables } from '../store/tables.js';
import { visibleTo } from '../store/visible.js';
import type { OrgDeletionPlan } from './deletion.js';
import { MANAGERS } from './rules.js';

export const MAX_OWNED = 5;

/** An organization and the role of the user who asks. */
export type OwnOrgRow = OrgRow & {
  role: OrgRole;
  members: number;
  /** JSON, as in the contract. */
  sso: string;
  scim_enabled: number | null;
  scim_digest: string | null;
  scim_used_at: string | null;
  limits: string;
};
export type AdminOrgRow = OrgRow & { owners: string; members: number; limits: string };
export type NamedMemberRow = OrgMemberRow & { username: string; display_name: string | null };
export type NamedInviteRow = OrgInviteRow & { inviter: string };

/** Without members who have left. */
const NOTIFY = sql<string>`(SELECT json_group_array(n.value) FROM json_each(orgs.notify) AS n
  WHERE n.value IN (SELECT user_id FROM org_members WHERE org_id = orgs.id))`.as('notify');

const COLUMNS = [
  'orgs.id',
  'orgs.slug',
  'orgs.name',
  'orgs.approved_at',
  'orgs.max_members',
  NOTIFY,
  'orgs.deletion',
  'orgs.created_at',
] as const;

const MEMBERS = sql<number>`(SELECT count(*) FROM org_members WHERE org_id = orgs.id)`.as(
  'members',
);
const SSO = sql<string>`(SELECT json_object(
  'enabled', json(iif(coalesce(max(s.enabled), 0) = 1, 'true', 'false')),
  'enforced', json(iif(coalesce(max(s.enforced), 0) = 1, 'true', 'false')),
  'domains', json((SELECT json_group_array(d.domain) FROM org_domains AS d
    WHERE d.org_id = orgs.id AND d.verified_at IS NOT NULL)))
  FROM org_sso AS s WHERE s.org_id = orgs.id)`.as('sso');
const DISPLAY_NAME = sql<string | null>`(SELECT coalesce(i.display_name,
  nullif(trim(concat_ws(' ', i.given_name, i.family_name)), ''), i.user_name)
  FROM org_identities AS i WHERE i.org_id = org_members.org_id
  AND i.user_id = org_members.user_id AND i.deleted_at IS NULL
  ORDER BY i.id DESC LIMIT 1)`.as('display_name');
/** JSON list of usernames. */
const OWNERS = sql<string>`(SELECT json_group_array(u.username) FROM org_members AS m
  JOIN users AS u ON u.id = m.user_id WHERE m.org_id = orgs.id AND m.role = 'owner')`.as('owners');

const OWNED = [
  ...['hooks', 'credentials', 'webhooks', 'pipeline_templates', 'documents', 'knowledge_entries'],
  ...['agents', 'sessions', 'tasks', 'recurring_tasks', 'experts', 'memories', 'research_jobs'],
  ...['pipeline_runs', 'reader_tasks', 'operations', 'models', 'mcp_servers'],
];

const LIMITS = sql<string>`(SELECT limits FROM users WHERE users.id = orgs.id)`.as('limits');

const HAS_ROOM = sql<boolean>`(SELECT count(*) FROM org_members WHERE org_id = orgs.id)
  < orgs.max_members`;

/** A write returns false if an expectation was not met, such as a role that changed meanwhile. */
export const orgsStore = (store: Store) => {
  const { db } = store;
  const ofMember = (userId: string) =>
    db
      .selectFrom('orgs')
      .innerJoin('org_members as own', 'own.org_id', 'orgs.id')
      .leftJoin('org_scim', 'org_scim.org_id', 'orgs.id')
      .select(COLUMNS)
      .select(['own.role', MEMBERS, SSO, LIMITS])
      .select(['org_scim.enabled as scim_enabled', 'org_scim.token_digest as scim_digest'])
      .select('org_scim.last_used_at as scim_used_at')
      .where(visibleTo(userId, 'own'));
  const named = () =>
    db
      .selectFrom('org_members')
      .innerJoin('users', 'users.id', 'org_members.user_id')
      .select(['org_members.id', 'org_id', 'user_id', 'org_members.role'])
      .select(['org_members.created_at', 'users.username', DISPLAY_NAME]);
  const managedUsers = (orgId: string) =>
    db.selectFrom('users').select('id').where('managed_by', '=', orgId);
  const every = () =>
    db
      .selectFrom('orgs')
      .select(COLUMNS)
      .select([OWNERS, MEMBERS, LIMITS])
      .where('orgs.deletion', 'is', null);
  const hasRole = ({ orgId, userId }: Membership, ...roles: OrgRole[]) =>
    assertRows(
      selectRows(db, orgMemberTable, { org_id: orgId }, visibleTo(userId)).where(
        'role',
        'in',
        roles,
      ),
      1,
    );
  /** Unmet if the account is disabled, or owns as many organizations as it may. */
  const mayOwn = (userId: string) =>
    assertRows(
      db
        .selectFrom('users')
        .select('id')
        .where('id', '=', userId)
        .where('disabled_at', 'is', null)
        .where(
          sql<boolean>`(SELECT count(*) FROM org_members WHERE org_members.user_id = users.id
            AND org_members.role = 'owner') < ${MAX_OWNED}`,
        ),
      1,
    );
  /** Otherwise they would be valid again with a later promotion. */
  const withoutInvites = (org_id: string, invited_by: string) =>
    statement(
      db
        .deleteFrom('org_invites')
        .where('org_id', '=', org_id)
        .where('invited_by', '=', invited_by),
    );
  const hasOtherOwner = (orgId: string, userId: string) => (of: MemberBuilder) =>
    of.or([
      of('role', '<>', 'owner'),
      of.exists(
        db
          .selectFrom('org_members as other')
          .innerJoin('users', 'users.id', 'other.user_id')
          .select('other.id')
          .where('users.disabled_at', 'is', null)
          .where('other.org_id', '=', orgId)
          .where('other.role', '=', 'owner')
          .where('other.user_id', '<>', userId),
      ),
    ]);

  return {
    list: async (userId: string, { limit = DEFAULT_LIMIT, cursor }: PageInput) => {
      let query = ofMember(userId);
      if (cursor !== undefined) query = query.where('orgs.id', '<', cursor);
      const rows = await query
        .orderBy('orgs.id', 'desc')
        .limit(limit + 1)
        .execute();
      return cutPage(rows, limit);
    },

    find: (userId: string, orgId: string): Promise<OwnOrgRow | undefined> =>
      ofMember(userId).where('orgs.id', '=', orgId).executeTakeFirst(),

    listAll: (filter: PageInput & { approved?: boolean }): Promise<Page<AdminOrgRow>> => {
      const { approved, ...page } = filter;
      let query = every();
      if (approved !== undefined) {
        query = query.where('approved_at', approved ? 'is not' : 'is', null);
      }
      return newestFirst(query, page);
    },

    findAny: (orgId: string): Promise<AdminOrgRow | undefined> =>
      every().where('id', '=', orgId).executeTakeFirst(),

    /** Throws `UniqueViolation` if the slug exists. Returns false if the user owns too many. */
    insert: (org: OrgRow, owner: OrgMemberRow, also: TransactionStep[]): Promise<boolean> => {
      const count = selectCount(db, orgMemberTable, { role: 'owner' }, visibleTo(owner.user_id));
      const member = insertUpTo(db, orgMemberTable, owner, { count, most: MAX_OWNED });
      return store.tryTransact([
        insertRow(orgTable, org),
        insertRow(userTable, accountOf(org)),
        statement(member, 1),
        ...also,
      ]);
    },

    update: (
      of: Membership,
      change: Partial<Pick<OrgRow, 'name' | 'notify'>>,
      also: TransactionStep[],
    ): Promise<boolean> =>
      store.tryTransact([
        hasRole(of, ...MANAGERS),
        statement(updateRows(db, orgTable, { id: of.orgId }).set(change), 1),
        ...also,
      ]),

    updateAny: (
      orgId: string,
      { org, account }: { org: OrgApproval; account: AccountChange },
      also: TransactionStep[],
    ): Promise<boolean> =>
      store.tryTransact([
        statement(
          updateRows(db, orgTable, { id: orgId })
            .set({ id: orgId, ...org })
            .where('deletion', 'is', null),
          1,
        ),
        statement(updateRows(db, userTable, { id: orgId }).set({ id: orgId, ...account }), 1),
        ...also,
      ]),

    /** Whether the account of the organization owns anything that is worth a question. */
    ownsResources: async (orgId: string): Promise<boolean> => {
      const of = OWNED.map((table) => `SELECT 1 FROM ${table} WHERE user_id = @org`);
      const found = sql.raw(of.join(' UNION ALL ').replaceAll('@org', `'${orgId}'`));
      return (await sql`${found} LIMIT 1`.execute(db)).rows.length > 0;
    },

    /**
     * From here on nobody can use the organization. Tokens of managed accounts end, since nothing would
     * limit them any more.
     */
    beginDeletion: (
      of: Membership,
      { at, toUserId }: { at: string; toUserId: string | null },
      also: TransactionStep[],
    ): Promise<boolean> =>
      store.tryTransact([
        hasRole(of, 'owner'),
        ...(toUserId === null
          ? []
          : [
              assertRows(
                selectRows(db, orgMemberTable, { org_id: of.orgId, user_id: toUserId }),
                1,
              ),
            ]),
        statement(
          db
            .updateTable('access_tokens')
            .set({ expires_at: at })
            .where('expires_at', '>', at)
            .where('user_id', 'in', managedUsers(of.orgId)),
        ),
        statement(
          updateRows(db, orgTable, { id: of.orgId })
            .set({ approved_at: null, deletion: toUserId ?? '' })
            .where('deletion', 'is', null),
          1,
        ),
        statement(updateRows(db, userTable, { id: of.orgId }).set({ disabled_at: at }), 1),
        statement(db.deleteFrom('org_members').where('org_id', '=', of.orgId)),
        ...also,
      ]),

    memberIds: async (orgId: string): Promise<string[]> => {
      const rows = db.selectFrom('org_members').select('user_id').where('org_id', '=', orgId);
      return (await rows.execute()).map(({ user_id }) => user_id);
    },

    /** Enabled admins of the installation. */
    adminIds: async (): Promise<string[]> => {
      const admins = db.selectFrom('users').select('id').where('role', '=', 'admin');
      return (await admins.where('disabled_at', 'is', null).execute()).map(({ id }) => id);
    },

    managedUsers: async (orgId: string): Promise<string[]> =>
      (await managedUsers(orgId).execute()).map(({ id }) => id),

    beingDeleted: async (): Promise<OrgDeletionPlan[]> => {
      const rows = await db
        .selectFrom('orgs')
        .select(['id', 'deletion'])
        .where('deletion', 'is not', null)
        .execute();
      return rows.map(({ id, deletion }) => ({ orgId: id, toUserId: deletion || null }));
    },

    inMemory: async (orgId: string) => {
      const own = (table: 'hooks' | 'webhooks') =>
        db.selectFrom(table).select('id').where(visibleTo(orgId)).execute();
      const [hooks, webhooks] = await Promise.all([own('hooks'), own('webhooks')]);
      return { hooks: hooks.map(({ id }) => id), webhooks: webhooks.map(({ id }) => id) };
    },

    endDeletion: async (orgId: string): Promise<void> => {
      await store.transact([
        statement(db.deleteFrom('users').where('id', '=', orgId)),
        statement(db.deleteFrom('orgs').where('id', '=', orgId)),
      ]);
    },

    members: (orgId: string, { limit = DEFAULT_LIMIT, cursor }: PageInput) => {
      let query = named().where('org_id', '=', orgId);
      if (cursor !== undefined) query = query.where('org_members.id', '<', cursor);
      return query
        .orderBy('org_members.id', 'desc')
        .limit(limit + 1)
        .execute()
        .then((rows) => cutPage(rows, limit));
    },

    member: ({ orgId, userId }: Membership): Promise<NamedMemberRow | undefined> =>
      named()
        .where('org_id', '=', orgId)
        .where(visibleTo(userId, 'org_members'))
        .executeTakeFirst(),

    userIdOf: async (key: string): Promise<string | null> => {
      const found = db
        .selectFrom('users')
        .select('id')
        .where('disabled_at', 'is', null)
        .where((of) => of.or([of('username_key', '=', key), of('email_key', '=', key)]));
      return (await found.executeTakeFirst())?.id ?? null;
    },

    /** Throws `UniqueViolation` if the user is a member. Returns false without room or role. */
    addMember: (row: OrgMemberRow, by: string, also: TransactionStep[]): Promise<boolean> =>
      store.tryTransact([
        hasRole({ orgId: row.org_id, userId: by }, ...MANAGERS),
        insertMember(store, row),
        ...also,
      ]),

    /**
     * Returns false for the last owner, for a new owner who may not own another organization, and if
     * a role was changed meanwhile.
     */
    changeRole: (
      from: OrgMemberRow,
      role: OrgRole,
      by: { userId: string; roles: OrgRole[] },
      also: TransactionStep[],
    ): Promise<boolean> => {
      const { org_id: orgId, user_id: userId } = from;
      const change = updateRows(db, orgMemberTable, { id: from.id, role: from.role }).set({ role });
      const isKept = role === 'owner' ? change : change.where(hasOtherOwner(orgId, userId));
      return store.tryTransact([
        hasRole({ orgId, userId: by.userId }, ...by.roles),
        ...(role === 'owner' && from.role !== 'owner' ? [mayOwn(userId)] : []),
        statement(isKept, 1),
        ...(role === 'member' ? [withoutInvites(orgId, userId)] : []),
        ...also,
      ]);
    },

    /** Returns false for the last owner, and if a role was changed meanwhile. */
    removeMember: (
      from: OrgMemberRow,
      by: { userId: string; roles: OrgRole[] },
      also: TransactionStep[],
    ): Promise<boolean> => {
      const { org_id: orgId, user_id: userId } = from;
      const gone = deleteRows(db, orgMemberTable, { id: from.id, role: from.role });
      return store.tryTransact([
        hasRole({ orgId, userId: by.userId }, ...by.roles),
        statement(gone.where(hasOtherOwner(orgId, userId)), 1),
        withoutInvites(orgId, userId),
        // A linked account may not be entered by the identity provider any more.
        statement(
          deleteRows(db, orgIdentityTable, { org_id: orgId })
            .where(visibleTo(userId))
            .where(isNotManaged(orgId)),
        ),
        ...also,
      ]);
    },

    /** For identity providers. Not met if the organization is full. */
    joinStep: (row: OrgMemberRow): TransactionStep => insertMember(store, row),

    /** For identity providers. Not met for the last owner. */
    leaveStep: ({ id, org_id, user_id, role }: OrgMemberRow): TransactionStep =>
      statement(
        deleteRows(db, orgMemberTable, { id, role }).where(hasOtherOwner(org_id, user_id)),
        1,
      ),

    /** The owner becomes an admin. Returns false as `changeRole` does. */
    transfer: (owner: OrgMemberRow, to: OrgMemberRow, also: TransactionStep[]): Promise<boolean> =>
      store.tryTransact([
        ...(to.role === 'owner' ? [] : [mayOwn(to.user_id)]),
        statement(
          updateRows(db, orgMemberTable, { id: to.id, role: to.role }).set({ role: 'owner' }),
          1,
        ),
        statement(
          updateRows(db, orgMemberTable, { id: owner.id, role: 'owner' }).set({ role: 'admin' }),
          1,
        ),
        ...also,
      ]),

    invites: (orgId: string, page: PageInput): Promise<Page<NamedInviteRow>> =>
      newestFirst(
        selectRows(db, orgInviteTable, { org_id: orgId }).select(
          sql<string>`(SELECT username FROM users WHERE users.id = invited_by)`.as('inviter'),
        ),
        page,
      ),

    /** Also deletes expired invites of all organizations. */
    insertInvite: (row: OrgInviteRow, also: TransactionStep[]): Promise<boolean> =>
      store.tryTransact([
        hasRole({ orgId: row.org_id, userId: row.invited_by }, ...MANAGERS),
        statement(db.deleteFrom('org_invites').where('expires_at', '<=', row.created_at)),
        insertRow(orgInviteTable, row),
        ...also,
      ]),

    deleteInvite: (of: Membership, id: string, also: TransactionStep[]): Promise<boolean> =>
      store.tryTransact([
        hasRole(of, ...MANAGERS),
        statement(deleteRows(db, orgInviteTable, { id, org_id: of.orgId }), 1),
        ...also,
      ]),

    /** Valid until it expires, and while the user who created it may invite. */
    openInvite: (digest: string, now: string): Promise<OrgInviteRow | undefined> =>
      selectRows(db, orgInviteTable, { digest })
        .where('expires_at', '>', now)
        .where(isByManager)
        .executeTakeFirst(),

    /** Throws `UniqueViolation` if the user is a member. Returns false if it was used meanwhile. */
    join: (row: OrgMemberRow, digest: string, also: TransactionStep[]): Promise<boolean> =>
      store.tryTransact([
        statement(
          deleteRows(db, orgInviteTable, { digest })
            .where('expires_at', '>', row.created_at)
            .where(isByManager),
          1,
        ),
        insertMember(store, row),
        ...also,
      ]),
  };
};

interface AccountChange {
  disabled_at?: string | null;
  limits?: RawBuilder<string>;
}
type OrgApproval = Partial<Pick<OrgRow, 'approved_at' | 'max_members'>>;

/** Owns the resources. Keys of people are lower case, so that no login, invite or reset finds it. */
const accountOf = ({ id, slug, created_at }: OrgRow) => ({
  id,
  username: slug,
  username_key: `ORG:${slug}`,
  password_hash: '',
  role: 'user' as const,
  // Until the organization is approved.
  disabled_at: created_at,
  created_at,
});

export type OrgsStore = ReturnType<typeof orgsStore>;

interface Membership {
  orgId: string;
  userId: string;
}

type MemberBuilder = ExpressionBuilder<Tables, 'org_members'>;

const isNotManaged = (orgId: string) =>
  sql<boolean>`user_id NOT IN (SELECT id FROM users WHERE managed_by = ${orgId})`;

const isByManager = sql<boolean>`EXISTS (SELECT 1 FROM org_members AS m
  JOIN users AS u ON u.id = m.user_id
  WHERE m.org_id = org_invites.org_id AND m.user_id = org_invites.invited_by
    AND m.role IN ('owner', 'admin') AND u.disabled_at IS NULL)`;

/** Not inserted if the organization is full. */
export const insertMember = ({ db }: Store, row: OrgMemberRow) => {
  const values = db
    .selectFrom('orgs')
    .select((of) => orgMemberTable.columns.map((column) => of.val(row[column]).as(column)))
    .where('orgs.id', '=', row.org_id)
    .where(HAS_ROOM);
  return statement(
    db.insertInto('org_members').columns(orgMemberTable.columns).expression(values),
    1,
  );
};
