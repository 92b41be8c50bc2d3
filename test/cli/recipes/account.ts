import { generate } from 'otplib';
import { PASSWORD } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { seedPasskey } from '../../harness/passkey.js';
import type { Recipes } from './recipe.js';
import type { Scene, Self } from './scene.js';

const NEXT = 'another horse battery';

/** A second factor that was begun; what its app would show now. */
const begun = async ({ client }: Self): Promise<string> => {
  const { secret } = await client.totp.setup({ body: {} });
  return generate({ secret });
};

const STEP_SECONDS = 30;

/** The same, enabled; what the app will show next, because what it shows now is spent. */
const enabled = async ({ client }: Self): Promise<string> => {
  const { secret } = await client.totp.setup({ body: {} });
  await client.totp.enable({ body: { code: await generate({ secret }) } });
  return generate({ secret, epoch: Math.floor(Date.now() / 1000) + STEP_SECONDS });
};

const codeOfChannel = async ({ world, name }: Scene): Promise<string> => {
  const sender = { kind: 'telegram' as const, id: name(), name: 'Eve' };
  return (await inside(world.app.app).links.makeCode(sender)).code;
};

const userOf = async (scene: Scene): Promise<string> => (await scene.user()).username;

export const account: Recipes = {
  register: {
    words: ({ name }) => [name(), '--password-file', '-'],
    stdin: PASSWORD,
    isOpen: true,
  },
  login: {
    words: async (scene) => [await userOf(scene), '--password-file', '-'],
    stdin: PASSWORD,
    isOpen: true,
  },
  logout: { isOwn: true, isOpen: true, json: 'nothing' },
  whoami: {},
  'auth password': {
    isOwn: true,
    words: async ({ world }) => [
      ...['--current-file', await world.file('old', PASSWORD)],
      ...['--password-file', await world.file('next', NEXT)],
    ],
  },
  'auth reset': {
    isOpen: true,
    words: async (scene) => {
      const { id } = await scene.user();
      const { url } = await scene.ada.client.users.invite({ id, body: {} });
      return ['--link-file', await scene.world.file('link', url), '--password-file', '-'];
    },
    stdin: NEXT,
  },
  'auth refresh': { isOwn: true },
  'auth link': {
    words: async (scene) => [await codeOfChannel(scene), '--yes'],
  },
  'auth sessions list': {},
  'auth sessions delete': {
    isOwn: true,
    words: async ({ world }, { username, client }) => {
      await world.app.call('POST', '/api/auth/login', { body: { username, password: PASSWORD } });
      const { sessions } = await client.logins.list();
      return [sessions.find(({ current }) => !current)?.id ?? '', '--yes'];
    },
  },
  'auth tokens list': {
    needs: (_, { client }) => client.tokens.create({ body: { name: 'ci' } }),
  },
  'auth tokens create': { words: () => ['ci', '--scopes', 'hooks:read'] },
  'auth tokens delete': {
    words: async (_, { client }) => {
      const { id } = await client.tokens.create({ body: { name: 'ci' } });
      return [id, '--yes'];
    },
  },
  'auth totp setup': { isOwn: true },
  'auth totp enable': { isOwn: true, words: async (_, self) => [await begun(self)] },
  'auth totp verify': { isOwn: true, words: async (_, self) => [await enabled(self)] },
  'auth totp disable': {
    isOwn: true,
    words: async (_, self) => [await enabled(self), '--password-file', '-'],
    stdin: PASSWORD,
  },
  'auth totp recovery-codes': { isOwn: true, needs: (_, self) => enabled(self) },
  'auth passkeys list': {
    isOwn: true,
    needs: ({ world }, { id }) => seedPasskey(world.app, id),
  },
  'auth passkeys delete': {
    isOwn: true,
    words: async ({ world }, { id }) => [await seedPasskey(world.app, id), '--yes'],
  },
  'users list': {},
  'users update': { words: async (scene) => [await userOf(scene), '--daily-cost-usd', '2.5'] },
  'users invite': { words: async (scene) => [await userOf(scene)] },
  'users impersonate': { words: async (scene) => [await userOf(scene), '--reason', 'ticket 41'] },
  'users totp remove': {
    words: async (scene) => {
      const user = await scene.user();
      await enabled(user);
      return [user.username, '--reason', 'ticket 41', '--yes'];
    },
    json: 'nothing',
  },
  'users passkeys list': {
    words: async (scene) => {
      const { id, username } = await scene.user();
      await seedPasskey(scene.world.app, id);
      return [username];
    },
  },
  'users passkeys remove': {
    words: async (scene) => {
      const { id, username } = await scene.user();
      const passkey = await seedPasskey(scene.world.app, id);
      return [username, passkey, '--reason', 'ticket 41', '--yes'];
    },
    json: 'nothing',
  },
  'users disable': {
    words: async (scene) => [await userOf(scene), '--yes'],
  },
  'users enable': {
    words: async (scene) => {
      const { id, username } = await scene.user();
      await scene.ada.client.users.update({ id, body: { disabled: true } });
      return [username];
    },
  },
  invite: {},
  // The list itself is recorded: only of what is over do two lists say the same.
  'audit list': { words: () => ['--action', 'auth.register'] },
  'audit verify': {},
  'keys rotate': {},
};
