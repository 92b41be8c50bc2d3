import { createKeyPair } from '../harness/idp.js';
import { linkAccount } from '../harness/scim.js';
import type { Kitchen, Recipe, Trial } from './kitchen.js';

interface OwnOrg {
  token: string;
  id: string;
  slug: string;
}

let orgs = 0;

/** An organization of somebody new. */
const newOrg = async ({ app, guest }: Kitchen): Promise<OwnOrg> => {
  const { token } = await guest();
  const slug = `org-${++orgs}`;
  const { body } = await app.call('POST', '/api/orgs', { token, body: { slug, name: slug } });
  return { token, id: body.id, slug };
};

/** An organization with another member. */
const withMember = async (kitchen: Kitchen): Promise<OwnOrg & { userId: string }> => {
  const org = await newOrg(kitchen);
  const { username, id: userId } = await kitchen.guest();
  const members = `/api/orgs/${org.id}/members`;
  await kitchen.app.call('POST', members, { token: org.token, body: { username } });
  return { ...org, userId };
};

const invited = async (kitchen: Kitchen) => {
  const org = await newOrg(kitchen);
  const invites = `/api/orgs/${org.id}/invites`;
  const { body } = await kitchen.app.call('POST', invites, { token: org.token, body: {} });
  return { org, inviteId: body.id, inviteToken: body.inviteToken };
};

const ofOrg =
  (body: (org: OwnOrg) => unknown): Recipe =>
  async (kitchen): Promise<Trial> => {
    const org = await newOrg(kitchen);
    return { token: org.token, path: { id: org.id }, body: body(org) };
  };

const ofMember =
  (body?: object): Recipe =>
  async (kitchen): Promise<Trial> => {
    const { token, id, userId } = await withMember(kitchen);
    return { token, path: { id, userId }, body };
  };

/** An approved organization, and settings of single sign-on for it. */
const withSettings = async (kitchen: Kitchen) => {
  const { app, admin } = kitchen;
  const org = await newOrg(kitchen);
  const approval = { token: admin.token, body: { approved: true } };
  await app.call('PATCH', `/api/admin/orgs/${org.id}`, approval);
  const { certificate } = createKeyPair();
  const idp = { entityId: 'https://idp.example', ssoUrl: 'https://idp.example/login' };
  return { ...org, body: { enabled: true, ...idp, certificates: [certificate] } };
};

export const ORG_RECIPES: Record<string, Recipe> = {
  'PUT /api/orgs/{id}/sso': async (kitchen) => {
    const { token, id, body } = await withSettings(kitchen);
    return { token, path: { id }, body };
  },
  'POST /api/orgs/{id}/sso/link': async (kitchen) => {
    const { token, id, body } = await withSettings(kitchen);
    await kitchen.app.call('PUT', `/api/orgs/${id}/sso`, { token, body });
    return { token, path: { id }, body: {} };
  },
  'DELETE /api/orgs/{id}/sso/link': async (kitchen) => {
    const { token, id, slug } = await newOrg(kitchen);
    const { body } = await kitchen.app.call('GET', '/api/auth/me', { token });
    await linkAccount(kitchen.app, { orgId: id, userId: body.id, name: slug });
    return { token, path: { id } };
  },
  'POST /api/orgs/{id}/domains': ofOrg(() => ({ domain: 'acme.example' })),
  'DELETE /api/orgs/{id}/domains/{domain}': async (kitchen) => {
    const { token, id } = await newOrg(kitchen);
    const body = { domain: 'acme.example' };
    await kitchen.app.call('POST', `/api/orgs/${id}/domains`, { token, body });
    return { token, path: { id, ...body } };
  },
  'POST /api/orgs': async ({ guest }) => {
    const { token } = await guest();
    return { token, body: { slug: `org-${++orgs}`, name: 'An organization' } };
  },
  'PATCH /api/orgs/{id}': ofOrg(() => ({ name: 'Another name' })),
  'DELETE /api/orgs/{id}': ofOrg(({ slug }) => ({ slug })),
  'POST /api/orgs/{id}/members': async (kitchen) => {
    const { token, id } = await newOrg(kitchen);
    const { username } = await kitchen.guest();
    return { token, path: { id }, body: { username } };
  },
  'PATCH /api/orgs/{id}/members/{userId}': ofMember({ role: 'admin' }),
  'DELETE /api/orgs/{id}/members/{userId}': ofMember(),
  'POST /api/orgs/{id}/invites': ofOrg(() => ({})),
  'DELETE /api/orgs/{id}/invites/{inviteId}': async (kitchen) => {
    const { org, inviteId } = await invited(kitchen);
    return { token: org.token, path: { id: org.id, inviteId } };
  },
  'POST /api/orgs/join': async (kitchen) => {
    const { inviteToken } = await invited(kitchen);
    return { token: (await kitchen.guest()).token, body: { inviteToken } };
  },
  'POST /api/orgs/{id}/transfer': async (kitchen) => {
    const { token, id, userId } = await withMember(kitchen);
    return { token, path: { id }, body: { userId } };
  },
  'PATCH /api/admin/orgs/{id}': async (kitchen) => {
    const { id } = await newOrg(kitchen);
    return { path: { id }, body: { maxMembers: 200 } };
  },
};
