import {
  type Account,
  type AccountChanges,
  type Client,
  contracts,
} from '../../src/client/index.js';
import { freshPasswordFile, withPassword } from '../auth/password.js';
import { type CommandGroup, command } from '../command.js';
import { changedByEditor, editFlag, isEdited } from '../edit.js';
import { failed } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { safe } from '../text.js';
import { localTime } from '../times.js';
import { NOT_REACHED, reachNotes } from '../tunnel/reach.js';
import { userColumns, userCrud } from '../users/columns.js';

const endpoints = await contracts.users();

const updateUser = command({
  name: 'update',
  args: '<user>',
  calls: [endpoints.update],
  examples: [
    'bob --role admin',
    'bob --daily-cost-usd 2.5',
    'bob --shell',
    'bob --daily-cost-usd null',
    'bob --edit',
  ],
  fields: () => requestFields(endpoints.update.body, ['password']),
  takesData: true,
  flags: { edit: editFlag, passwordFile: freshPasswordFile },
  notes: [
    'The role and the permissions take a login of the last ten minutes, or the password.',
    'null takes back what was set: then the settings and the role say it again.',
  ],
  seeAlso: 'adjutant users disable',
  run: async (context, given) => {
    const schema = endpoints.update.body;
    const { edit, passwordFile } = given.flags;
    const isByEditor = isEdited(context, { ...given, flags: { edit } });
    const body = isByEditor ? undefined : await requestFrom(schema, given, context.at);
    const { client, id } = await userCrud.find(context, given.args.user);
    const send = (changes: AccountChanges): Promise<Account> =>
      withPassword(context, passwordFile, (password) =>
        client.users.update({ id, body: { ...changes, ...password } }),
      );
    const byEditor = async (): Promise<Account | null> => {
      const present = await accountOf(client, id);
      const title = `user ${present.username}`;
      return changedByEditor(context, { title, schema, present, secrets: ['password'], send });
    };
    const user = body ? await send(body) : await byEditor();
    if (user) context.out.done(`Changed: ${user.username}, ${user.role}.`, user, userColumns);
  },
});

const inviteUser = command({
  name: 'invite',
  args: '[user]',
  calls: [endpoints.invite],
  summary: endpoints.invite.summary.replace('(`new` as the id)', 'for a new account'),
  examples: [
    '--email bob@example.org',
    '--role admin --expires-in-hours 2',
    'bob > reset-link.txt',
  ],
  fields: () => requestFields(endpoints.invite.body, ['password']),
  flags: { passwordFile: freshPasswordFile },
  notes: ['The link goes to stdout alone, this once. It works once: send it to nobody else.'],
  run: async (context, { args, flags, fields }) => {
    const asked = await requestFrom(endpoints.invite.body, { fields }, context.at);
    const { client, id } =
      args.user === undefined
        ? { client: await context.client(), id: 'new' }
        : await userCrud.find(context, args.user);
    const reply = await withPassword(context, flags.passwordFile, (password) =>
      client.users.invite({ id, body: { ...asked, ...password } }),
    );
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.note(id === 'new' ? 'A new account:' : 'A new password:');
    context.out.line(reply.url);
    if (reply.reach === 'none') context.out.warn(NOT_REACHED);
    for (const line of reachNotes(reply.reach)) context.out.warn(line);
    context.out.note(`Works once, until ${localTime(reply.expiresAt)}. Shown this once.`);
  },
});

/** The invite for a new account, in one word. */
export const invite = command({
  ...inviteUser,
  args: '',
  summary: 'Ask somebody in: a link that makes one account',
  examples: ['', '--email bob@example.org', '--role admin > link.txt'],
  seeAlso: 'adjutant users invite',
  run: (context, given) => inviteUser.run(context, { ...given, args: {} }),
});

const impersonateUser = command({
  name: 'impersonate',
  args: '<user>',
  calls: [endpoints.impersonate],
  examples: [
    'bob --reason "ticket 41: a hook that does not fire"',
    'ADJUTANT_TOKEN=$(adjutant users impersonate bob --reason "ticket 41") adjutant hooks list',
    'bob --reason "ticket 41" --json',
  ],
  fields: () => requestFields(endpoints.impersonate.body, ['password']),
  flags: { passwordFile: freshPasswordFile },
  notes: [
    'The token goes to stdout alone. It ends with your own session, and both names are kept.',
  ],
  run: async (context, { args, flags, fields }) => {
    const asked = await requestFrom(endpoints.impersonate.body, { fields }, context.at);
    const { client, id } = await userCrud.find(context, args.user);
    const reply = await withPassword(context, flags.passwordFile, (password) =>
      client.users.impersonate({ id, body: { ...asked, ...password } }),
    );
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.line(reply.token);
    context.out.note(`You act as ${safe(args.user)} with it until ${localTime(reply.expiresAt)}.`);
    context.out.note('Use it as ADJUTANT_TOKEN. End it: adjutant logout, with it set.');
  },
});

/** Reads one account from the list: no endpoint shows one. */
const accountOf = async (client: Client, id: string, cursor?: string): Promise<Account> => {
  const page = await client.users.list({ query: { limit: 200, cursor } });
  const found = page.users.find((user) => user.id === id);
  if (found) return found;
  if (page.nextCursor === null) throw failed(`No user has the id "${safe(id)}".`);
  return accountOf(client, id, page.nextCursor);
};

export const usersGroup: CommandGroup = {
  summary: 'Who has an account here, and what they may (admin)',
  commands: [
    userCrud.list({
      examples: ['', '--role admin', '--q ada --json'],
      next: (rows) =>
        rows.length === 0 ? 'Nobody is like that.' : 'Ask somebody in: adjutant users invite',
    }),
    updateUser,
    inviteUser,
    impersonateUser,
    userCrud.act('disable', endpoints.update, {
      summary: 'Shut a user out at once; nothing is deleted',
      examples: ['bob', '4ew6rt --yes', 'bob --yes --json'],
      notes: ['Sessions, tokens, sockets and agents end; hooks take deliveries and do not fire.'],
      seeAlso: 'adjutant users enable',
      body: { disabled: true },
      ask: (typed) => `Disable ${safe(typed)}? Sessions, tokens and agents end at once.`,
      said: ({ username }) => `Disabled: ${username}.`,
    }),
    userCrud.act('enable', endpoints.update, {
      summary: 'Let a user in again, with all that is theirs',
      examples: ['bob', '4ew6rt', 'bob --json'],
      body: { disabled: false },
      said: ({ username }) => `Enabled: ${username}. Tokens must be made anew.`,
    }),
  ],
  notes: ['More: adjutant users totp, users passkeys'],
};
