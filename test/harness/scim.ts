import type { Reply, TestApp } from './app.js';

export const SCIM = '/api/scim/v2';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export interface Provisioned {
  orgId: string;
  slug: string;
  owner: { id: string; token: string };
  /** SCIM token of the identity provider. */
  token: string;
  /** Sends a request of the identity provider. The path is below `/api/scim/v2`. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  patch(path: string, operations: unknown[], headers?: Record<string, string>): Promise<Reply>;
  /** Creates a user and returns the resource. */
  create(userName: string, more?: object): Promise<Reply['body']>;
  /** The account of a user, from the database. */
  accountOf(id: string): Promise<{ id: string; username: string; disabled_at: string | null }>;
}

/** Rows `n(i)`, from 1 to a parameter. */
const NUMBERS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
const AT = '2026-01-01T00:00:00.000Z';

/** Puts users into the database, of whom every second one is active. Returns the ID of each. */
export const seedUsers = async (
  app: TestApp,
  { orgId, slug }: Pick<Provisioned, 'orgId' | 'slug'>,
  count: number,
): Promise<(n: number) => string> => {
  await app.app.store.transact([
    {
      sql: `INSERT INTO users (id, username, username_key, password_hash, role, created_at, managed_by)
        ${NUMBERS} SELECT printf('user_%s%05d', ?, i), ? || '-s' || i, ? || '-s' || i, '', 'user', ?, ? FROM n`,
      parameters: [count, slug, slug, slug, AT, orgId],
    },
    {
      sql: `INSERT INTO org_identities (id, org_id, user_id, user_name, user_name_key, active, created_at, updated_at)
        ${NUMBERS} SELECT printf('identity_%s%05d', ?, i), ?, printf('user_%s%05d', ?, i),
          ? || i || '@x.org', ? || i || '@x.org', i % 2, ?, ? FROM n`,
      parameters: [count, slug, orgId, slug, slug, slug, AT, AT],
    },
  ]);
  return (n) => `identity_${slug}${String(n).padStart(5, '0')}`;
};

/** Puts groups into the database. The first `members` seeded users belong to each. */
export const seedGroups = async (
  app: TestApp,
  { orgId, slug }: Pick<Provisioned, 'orgId' | 'slug'>,
  { name, count, members }: { name: string; count: number; members: number },
): Promise<void> => {
  await app.app.store.transact([
    {
      sql: `INSERT INTO org_groups (id, org_id, display_name, display_key, revision, created_at, updated_at)
        ${NUMBERS} SELECT printf('group_%s%s%03d', ?, ?, i), ?, ? || i, ? || i, 1, ?, ? FROM n`,
      parameters: [count, slug, name, orgId, name, name, AT, AT],
    },
    {
      sql: `INSERT INTO org_group_members (group_id, identity_id)
        ${NUMBERS} SELECT g.id, printf('identity_%s%05d', ?, i) FROM n, org_groups AS g
          WHERE g.org_id = ? AND g.display_name LIKE ? || '%'`,
      parameters: [members, slug, orgId, name],
    },
  ]);
};

interface ListPage {
  totalResults: number;
  startIndex: number;
  itemsPerPage: number;
  Resources: Reply['body'][];
}

/** Reads a list to its end, as a client does: each page starts where the last one ended. */
export const walk = async (
  { ask }: Pick<Provisioned, 'ask'>,
  path: string,
  query: Record<string, string> = {},
): Promise<ListPage[]> => {
  const pages: ListPage[] = [];
  for (let startIndex = 1; ; ) {
    const search = new URLSearchParams({ ...query, startIndex: String(startIndex) });
    const { status, body, text } = await ask('GET', `${path}?${search}`);
    if (status !== 200) throw new Error(`Not listed: ${text}`);
    pages.push(body);
    startIndex += body.itemsPerPage;
    if (body.itemsPerPage === 0 || startIndex > body.totalResults) return pages;
  }
};

/** Links an account that the organization does not manage. Returns the ID of the user of SCIM. */
export const linkAccount = async (
  app: TestApp,
  { orgId, userId, name }: { orgId: string; userId: string; name: string },
): Promise<string> => {
  const id = `identity_${name}`;
  const names = { user_name: name, user_name_key: name, issuer: null, name_id: null };
  const unknown = { email: null, given_name: null, family_name: null, display_name: null };
  const never = { deleted_at: null, last_login_at: null, disabled_at: null };
  await app.app.store.db
    .insertInto('org_identities')
    .values({
      ...{ id, org_id: orgId, user_id: userId, active: 1, external_id: null },
      ...{ ...names, ...unknown, ...never, created_at: AT, updated_at: AT },
    })
    .execute();
  return id;
};

/** An approved organization with SCIM and a token. Its owner is registered under the slug. */
export const provision = async (
  app: TestApp,
  slug: string,
  owner?: { id: string; token: string },
): Promise<Provisioned> => {
  const by = owner ?? (await app.register(`${slug}-owner`));
  const post = (path: string, body: unknown) => app.call('POST', path, { token: by.token, body });
  const { id: orgId } = (await post('/api/orgs', { slug, name: slug })).body;
  await app.app.store.db
    .updateTable('orgs')
    .set({ approved_at: '2026-01-01T00:00:00.000Z' })
    .where('id', '=', orgId)
    .execute();
  const enable = { token: by.token, body: { enabled: true } };
  await app.call('PUT', `/api/orgs/${orgId}/scim`, enable);
  const { token } = (await post(`/api/orgs/${orgId}/scim-token`, {})).body;
  const ask: Provisioned['ask'] = (method, path, body, headers = {}) =>
    app.call(method, `${SCIM}${path}`, { token, body, headers, type: 'application/scim+json' });
  return {
    orgId,
    slug,
    owner: by,
    token,
    ask,
    patch: (path, operations, headers) =>
      ask('PATCH', path, { schemas: [PATCH_OP], Operations: operations }, headers),
    create: async (userName, more = {}) => {
      const { status, body, text } = await ask('POST', '/Users', { userName, ...more });
      if (status !== 201) throw new Error(`Not created: ${text}`);
      return body;
    },
    accountOf: (id) =>
      app.app.store.db
        .selectFrom('users')
        .innerJoin('org_identities', 'org_identities.user_id', 'users.id')
        .select(['users.id', 'users.username', 'users.disabled_at'])
        .where('org_identities.id', '=', id)
        .executeTakeFirstOrThrow(),
  };
};
