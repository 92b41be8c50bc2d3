import { seedMail, seedMailAccount } from '../../harness/mail/account.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

/** A mail account whose servers cannot be reached; its address. */
const account = async (scene: Scene): Promise<string[]> => {
  const { accounts } = await scene.ada.client.mailaccounts.list();
  return accounts[0] ? [accounts[0].address] : newAccount(scene);
};

const newAccount = async ({ world, ada }: Scene): Promise<string[]> => [
  (await seedMailAccount(world.app, ada.token)).address,
];

const SERVERS = {
  imap: { host: 'imap.mail.invalid', port: 993, tls: 'implicit' },
  smtp: { host: 'smtp.mail.invalid', port: 465, tls: 'implicit' },
};

/** An e-mail that is kept, of an account whose server cannot be reached; its id. */
const message = async ({ world, ada }: Scene): Promise<string[]> => [
  await seedMail(world.app, ada),
];

/** A draft of an e-mail; its id. */
const draft = async ({ ada, name }: Scene): Promise<string[]> => [
  (await ada.client.maildrafts.create({ body: { subject: name(), text: 'Half' } })).id,
];

/** An e-mail that waits to be sent, by a server that cannot be reached; its id. */
const sentMail = async (scene: Scene): Promise<string[]> => {
  await account(scene);
  const { accounts } = await scene.ada.client.mailaccounts.list();
  const body = { to: ['bob@mail.invalid'], subject: scene.name(), text: 'Hello' };
  const accountId = accounts[0]?.id ?? '';
  const { id } = await scene.ada.client.sentmail.send({ body: { ...body, accountId } });
  return [id];
};

export const email: Recipes = {
  'email list': { needs: message },
  'email get': { words: message, exit: 1, isText: true },
  'email download': {
    words: async (scene) => [...(await message(scene)), '0', '-'],
    exit: 1,
    json: 'nothing',
  },
  'email keep': {
    words: async (scene) => [...(await message(scene)), '0'],
    exit: 1,
  },
  'email send': {
    words: async (scene) => {
      await account(scene);
      const { accounts } = await scene.ada.client.mailaccounts.list();
      const letter = ['--to', 'bob@mail.invalid', '--subject', scene.name(), '--text', 'Hello'];
      return [...letter, '--account', accounts[0]?.address ?? '', '--no-wait'];
    },
    reply: 'email sent get',
  },
  'email reply': {
    words: async (scene) => [...(await message(scene)), '--text', 'Thank you.', '--no-wait'],
    reply: 'email sent get',
  },
  'email drafts list': { needs: draft },
  'email drafts get': { words: draft, isText: true },
  'email drafts create': { words: ({ name }) => ['--subject', name(), '--text', 'Half'] },
  'email drafts update': { words: async (scene) => [...(await draft(scene)), '--text', 'More'] },
  'email drafts send': {
    words: async (scene) => {
      await account(scene);
      const { client } = scene.ada;
      const { accounts } = await client.mailaccounts.list();
      const body = { to: ['bob@mail.invalid'], subject: scene.name(), text: 'Hello' };
      const accountId = accounts[0]?.id ?? '';
      return [(await client.maildrafts.create({ body: { ...body, accountId } })).id, '--yes'];
    },
  },
  'email drafts delete': { words: async (scene) => [...(await draft(scene)), '--yes'] },
  'email sent list': { needs: sentMail },
  'email sent get': { words: sentMail, isText: true },
  'email sent cancel': { words: sentMail },
  'email process': { needs: account, words: () => ['--no-wait'] },
  'email accounts folders': { words: account },
  'email setup': {
    words: ({ name }) => [
      `${name()}@mail.invalid`,
      ...['--imap', 'imap.mail.invalid:993', '--smtp', 'smtp.mail.invalid:465'],
      ...['--password-file', '-'],
    ],
    stdin: 'the password of a mailbox',
    exit: 1,
    reply: 'email accounts add',
  },
  'email accounts list': { needs: account },
  'email accounts get': { words: account },
  'email accounts add': {
    words: async ({ ada, name }) => {
      const body = { name: name(), value: 'the password of a mailbox' };
      const { id } = await ada.client.vault.create({ body });
      const servers = ['--data', JSON.stringify(SERVERS)];
      return [`${name()}@mail.invalid`, '--credential-id', id, ...servers];
    },
  },
  'email accounts update': { words: async (scene) => [...(await account(scene)), '--watch'] },
  'email accounts test': { words: account, exit: 1 },
  'email accounts delete': { words: async (scene) => [...(await newAccount(scene)), '--yes'] },
};
