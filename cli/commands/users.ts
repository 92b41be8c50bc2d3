import {
  type Account,
  type AccountChanges,
  type Client,
  contracts,
} from '../../src/client/index.js';
import { freshPasswordFile, withPassword } from '../auth/password.js';
import type { Column } from '../columns.js';
import { command, type Group } from '../command.js';
import { changedByEditor, editFlag, isEdited } from '../editing.js';
import { failed } from '../exit.js';
import { fieldsOf, requestFrom } from '../fields.js';
import { listing } from '../listing.js';
import { safe } from '../text.js';
import { age, timeOfDay } from '../times.js';
import { NOT_REACHED, reachNotes } from '../tunnel/reach.js';
import { findUser } from '../users/find.js';

const endpoints = await contracts.users();

const columns: Column<Account>[] = [
  { name: 'id', value: (user) => user.id, only: 'data' },
  { name: 'name', value: (user) => user.username },
  { name: 'role', value: (user) => user.role },
  { name: 'state', value: (user) => (user.disabled ? 'disabled' : 'active') },
  { name: 'email', value: (user) => user.email },
  { name: 'made', value: (user) => user.createdAt, show: (user) => age(user.createdAt) },
  { name: 'short', value: (user) => user.id.slice(-6), only: 'table' },
];

const listUsers = listing({
  name: 'list',
  args: '',
  summary: endpoints.list.summary,
  examples: ['', '--role admin', '--q ada --json'],
  query: endpoints.list.query,
  key: 'users',
  columns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.users.list({ query });
  },
  next: (rows) =>
    rows.length === 0 ? 'Nobody is like that.' : 'Ask somebody in: adjutant users invite',
});

const updateUser = command({
  name: 'update',
  args: '<user>',
  summary: endpoints.update.summary,
  examples: [
    'bob --role admin',
    'bob --daily-cost-usd 2.5',
    'bob --shell',
    'bob --daily-cost-usd null',
    'bob --edit',
  ],
  fields: () => fieldsOf(endpoints.update.body, ['password']),
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
    const { client, id } = await findUser(context, given.args.user);
    const send = (changes: AccountChanges): Promise<Account> =>
      withPassword(context, passwordFile, (password) =>
        client.users.update({ id, body: { ...changes, ...password } }),
      );
    const user = body
      ? await send(body)
      : await changedByEditor(context, {
          noun: 'user',
          schema,
          present: await accountOf(client, id),
          secrets: ['password'],
          send,
        });
    if (user) context.out.done(`Changed: ${user.username}, ${user.role}.`, user, columns);
  },
});

const disableUser = command({
  name: 'disable',
  args: '<user>',
  summary: 'Shut a user out at once; nothing is deleted',
  examples: ['bob', '4ew6rt --yes', 'bob --yes --json'],
  notes: ['Sessions, tokens, sockets and agents end; hooks take deliveries and do not fire.'],
  seeAlso: 'adjutant users enable',
  run: async (context, { args }) => {
    const { client, id } = await findUser(context, args.user);
    const asked = `Disable ${safe(args.user)}? Sessions, tokens and agents end at once.`;
    await context.ask.confirm(asked);
    const user = await client.users.update({ id, body: { disabled: true } });
    context.out.done(`Disabled: ${user.username}.`, user, columns);
  },
});

const enableUser = command({
  name: 'enable',
  args: '<user>',
  summary: 'Let a user in again, with all that is theirs',
  examples: ['bob', '4ew6rt', 'bob --json'],
  run: async (context, { args }) => {
    const { client, id } = await findUser(context, args.user);
    const user = await client.users.update({ id, body: { disabled: false } });
    context.out.done(`Enabled: ${user.username}. Tokens must be made anew.`, user, columns);
  },
});

const inviteUser = command({
  name: 'invite',
  args: '[user]',
  summary: endpoints.invite.summary.replace('(`new` as the id)', 'for a new account'),
  examples: [
    '--email bob@example.org',
    '--role admin --expires-in-hours 2',
    'bob > reset-link.txt',
  ],
  fields: () => fieldsOf(endpoints.invite.body, ['password']),
  flags: { passwordFile: freshPasswordFile },
  notes: ['The link goes to stdout alone, this once. It works once: send it to nobody else.'],
  run: async (context, { args, flags, fields }) => {
    const asked = await requestFrom(endpoints.invite.body, { fields }, context.at);
    const { client, id } =
      args.user === undefined
        ? { client: await context.client(), id: 'new' }
        : await findUser(context, args.user);
    const reply = await withPassword(context, flags.passwordFile, (password) =>
      client.users.invite({ id, body: { ...asked, ...password } }),
    );
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.note(id === 'new' ? 'A new account:' : 'A new password:');
    context.out.line(reply.url);
    if (reply.reach === 'none') context.out.warn(NOT_REACHED);
    for (const line of reachNotes(reply.reach)) context.out.warn(line);
    context.out.note(`Works once, until ${timeOfDay(reply.expiresAt)}. Shown this once.`);
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
  summary: endpoints.impersonate.summary,
  examples: [
    'bob --reason "ticket 41: a hook that does not fire"',
    'ADJUTANT_TOKEN=$(adjutant users impersonate bob --reason "ticket 41") adjutant hooks list',
    'bob --reason "ticket 41" --json',
  ],
  fields: () => fieldsOf(endpoints.impersonate.body, ['password']),
  flags: { passwordFile: freshPasswordFile },
  notes: [
    'The token goes to stdout alone. It ends with your own session, and both names are kept.',
  ],
  run: async (context, { args, flags, fields }) => {
    const asked = await requestFrom(endpoints.impersonate.body, { fields }, context.at);
    const { client, id } = await findUser(context, args.user);
    const reply = await withPassword(context, flags.passwordFile, (password) =>
      client.users.impersonate({ id, body: { ...asked, ...password } }),
    );
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.line(reply.token);
    context.out.note(`You act as ${safe(args.user)} with it until ${timeOfDay(reply.expiresAt)}.`);
    context.out.note('Use it as ADJUTANT_TOKEN. End it: adjutant logout, with it set.');
  },
});

/** As the list has it: no endpoint shows one. */
const accountOf = async (client: Client, id: string, cursor?: string): Promise<Account> => {
  const page = await client.users.list({ query: { limit: 200, cursor } });
  const found = page.users.find((user) => user.id === id);
  if (found) return found;
  if (page.nextCursor === null) throw failed(`No user has the id "${safe(id)}".`);
  return accountOf(client, id, page.nextCursor);
};

export const users: Group = {
  name: 'users',
  summary: 'Who has an account here, and what they may (admin)',
  commands: [listUsers, updateUser, inviteUser, impersonateUser, disableUser, enableUser],
  notes: ['More: adjutant users totp, users passkeys'],
};
