import type { Org } from '../../../src/client/index.js';
import { createKeyPair } from '../../harness/idp.js';
import { linkAccount } from '../../harness/scim.js';
import type { Recipes } from './recipe.js';
import type { Scene, Self } from './scene.js';

/** The organization of the user. It is created once, because users own five at most. */
const org = async ({ name }: Scene, { client }: Self): Promise<Org> => {
  const [own] = (await client.orgs.list()).orgs;
  return own ?? client.orgs.create({ body: { slug: name(), name: 'Acme Ltd' } });
};

const slug = async (scene: Scene, self: Self): Promise<string[]> => [(await org(scene, self)).slug];

const approved = async (scene: Scene, self: Self): Promise<Org> => {
  const own = await org(scene, self);
  await scene.ada.client.orgs['admin-update']({ id: own.id, body: { approved: true } });
  return own;
};

const approvedSlug = async (scene: Scene, self: Self): Promise<string[]> => [
  (await approved(scene, self)).slug,
];

/** An organization and another member of it. */
const withMember = async (scene: Scene, self: Self): Promise<string[]> => {
  const { id, slug } = await org(scene, self);
  const { username } = await scene.user();
  await self.client.orgs['member-add']({ id, body: { username } });
  return [slug, username];
};

const invite = async (scene: Scene, self: Self) => {
  const { id, slug } = await org(scene, self);
  const made = await self.client.orgs.invite({
    id,
    body: { email: `${scene.name()}@example.org` },
  });
  return { slug, id: made.id };
};

const identityProvider = {
  entityId: 'https://idp.acme.example/metadata',
  ssoUrl: 'https://idp.acme.example/login',
};

/** Other commands of the scene set up a tunnel, which single sign-on then requires to be https. */
const publicAddress = ({ ada }: Scene) =>
  ada.client.tunnel.set({ body: { provider: 'proxy', publicUrl: 'https://adjutant.example' } });

/** An organization with single sign-on. */
const withSso = async (scene: Scene, self: Self): Promise<string[]> => {
  const { id, slug } = await approved(scene, self);
  await publicAddress(scene);
  const certificates = [createKeyPair().certificate];
  await self.client.sso.update({ id, body: { enabled: true, ...identityProvider, certificates } });
  return [slug];
};

/** An organization and a domain of it, whose DNS record exists. */
const withDomain = async (scene: Scene, self: Self): Promise<string[]> => {
  const { id, slug } = await org(scene, self);
  const domain = `${scene.name()}.example`;
  const { name, value } = await self.client.sso['domain-add']({ id, body: { domain } });
  scene.dns.texts.set(name, value);
  return [slug, domain];
};

/** An organization with a SCIM token. */
const withScim = async (scene: Scene, self: Self): Promise<string[]> => {
  const { id, slug } = await approved(scene, self);
  await self.client.scim.settings({ id, body: { enabled: true } });
  await self.client.scim['token-create']({ id, body: {} });
  return [slug];
};

export const orgs: Recipes = {
  'orgs list': { needs: org },
  'orgs get': { isOwn: true, words: slug },
  'orgs create': { isOwn: true, words: ({ name }) => [name(), '--name', 'Acme Ltd'] },
  'orgs update': {
    isOwn: true,
    words: async (scene, self) => [...(await slug(scene, self)), '--name', 'Another name'],
  },
  'orgs delete': {
    isOwn: true,
    words: async (scene, self) => [...(await slug(scene, self)), '--yes'],
    json: 'nothing',
  },
  'orgs join': {
    isOwn: true,
    words: async (scene) => {
      const host = await scene.user();
      const { id } = await org(scene, host);
      return [(await host.client.orgs.invite({ id, body: {} })).inviteToken];
    },
  },
  'orgs leave': {
    isOwn: true,
    words: async (scene, { username }) => {
      const host = await scene.user();
      const { id, slug } = await org(scene, host);
      await host.client.orgs['member-add']({ id, body: { username } });
      return [slug, '--yes'];
    },
    json: 'nothing',
  },
  'orgs transfer': {
    isOwn: true,
    words: async (scene, self) => [...(await withMember(scene, self)), '--yes'],
  },
  'orgs audit': { words: slug },
  'orgs members list': { words: slug },
  'orgs members add': {
    isOwn: true,
    words: async (scene, self) => [
      ...(await slug(scene, self)),
      (await scene.user()).username,
      ...['--role', 'admin'],
    ],
  },
  'orgs members update': {
    isOwn: true,
    words: async (scene, self) => [...(await withMember(scene, self)), '--role', 'admin'],
  },
  'orgs members remove': {
    isOwn: true,
    words: async (scene, self) => [...(await withMember(scene, self)), '--yes'],
  },
  'orgs invites list': { needs: invite, words: slug },
  'orgs invites create': {
    isOwn: true,
    words: async (scene, self) => [...(await slug(scene, self)), '--role', 'admin'],
  },
  'orgs invites delete': {
    isOwn: true,
    words: async (scene, self) => {
      const { slug, id } = await invite(scene, self);
      return [slug, id.slice(-6), '--yes'];
    },
  },
  'orgs sso get': { isOwn: true, words: withSso },
  'orgs sso update': {
    isOwn: true,
    words: async (scene, self) => [...(await withSso(scene, self)), '--token-days', '7'],
  },
  'orgs sso test': { isOwn: true, words: withSso },
  'orgs sso metadata': {
    needs: publicAddress,
    isOpen: true,
    isText: true,
    words: slug,
    json: 'nothing',
  },
  'orgs sso link': { isOwn: true, isText: true, words: withSso },
  'orgs sso unlink': {
    isOwn: true,
    words: async (scene, self) => {
      const { id, slug } = await org(scene, self);
      await linkAccount(scene.world.app, { orgId: id, userId: self.id, name: self.username });
      return [slug, '--yes'];
    },
  },
  'orgs domains list': {
    isOwn: true,
    words: async (scene, self) => (await withDomain(scene, self)).slice(0, 1),
  },
  'orgs domains add': {
    isOwn: true,
    words: async (scene, self) => [...(await slug(scene, self)), 'acme.example'],
  },
  'orgs domains verify': { isOwn: true, words: withDomain },
  'orgs domains delete': {
    isOwn: true,
    words: async (scene, self) => [...(await withDomain(scene, self)), '--yes'],
  },
  'orgs scim enable': { isOwn: true, words: approvedSlug },
  'orgs scim disable': {
    isOwn: true,
    words: async (scene, self) => [...(await withScim(scene, self)), '--yes'],
  },
  'orgs scim token': { isOwn: true, words: approvedSlug },
  'orgs scim revoke': {
    isOwn: true,
    words: async (scene, self) => [...(await withScim(scene, self)), '--yes'],
  },
  'orgs scim log': {
    words: async (scene, self) => {
      const { id, slug } = await approved(scene, self);
      await self.client.scim.settings({ id, body: { enabled: true } });
      await self.client.scim['users-list']({ query: { org: slug } });
      return [slug];
    },
  },
  'orgs admin list': { needs: org },
  'orgs admin update': {
    words: async (scene) => [
      ...(await slug(scene, await scene.user())),
      ...['--max-members', '500', '--daily-cost-usd', '5'],
    ],
  },
};
