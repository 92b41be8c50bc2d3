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
