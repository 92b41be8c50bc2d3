import { type Account, contracts } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { crud } from '../crud.js';
import { requestCommand } from '../request.js';
import { localTime, safe } from '../text.js';
import { LOCAL_LINK_WARNING } from '../tunnel/address.js';
import { reachNotes } from '../tunnel/reach.js';

const endpoints = await contracts.users();

export const userCrud = crud({
  noun: 'user',
  rows: 'users',
  endpoints: { list: endpoints.list, update: endpoints.update },
  columns: buildColumns<Account>(
    ['id:data', 'name=username', 'role'],
    { name: 'state', value: (user) => (user.disabled ? 'disabled' : 'active') },
    ['email', 'made=createdAt:ago', 'short=id:tail'],
  ),
  named: ({ id, username }) => ({ id, name: username }),
});

const inviteUser = requestCommand({
  name: 'invite',
  args: '[user]',
  endpoint: endpoints.invite,
  examples: [
    '--email bob@example.org',
    '--role admin --expires-in-hours 2',
    'bob > reset-link.txt',
  ],
  except: ['password'],
  isPrivileged: true,
  notes: ['The link is printed to stdout, once. The link works once: send it only to that person.'],
  at: async (client, { user }) => ({ id: user ? await userCrud.id(client, user) : 'new' }),
  say: ({ out }, { url, reach, expiresAt }, { args: { user } }) => {
    out.note(user === undefined ? 'Link for a new account:' : 'Link for a new password:');
    out.line(url);
    if (reach === 'none') out.warn(LOCAL_LINK_WARNING);
    for (const line of reachNotes({ reach })) out.warn(line);
    out.note(`Works once, until ${localTime(expiresAt)}. Shown only once.`);
  },
});

export const invite = command({
  ...inviteUser,
  args: '',
  summary: 'Create an invite link for one account',
  examples: ['', '--email bob@example.org', '--role admin > link.txt'],
  seeAlso: 'adjutant users invite',
  run: (context, input) => inviteUser.run(context, { ...input, args: {} }),
});

const impersonateUser = userCrud.request({
  name: 'impersonate',
  args: '<user>',
  endpoint: endpoints.impersonate,
  examples: [
    'bob --reason "ticket 41: a hook that does not fire"',
    'ADJUTANT_TOKEN=$(adjutant users impersonate bob --reason "ticket 41") adjutant hooks list',
    'bob --reason "ticket 41" --json',
  ],
  except: ['password'],
  isPrivileged: true,
  notes: [
    'The token is printed to stdout. It ends with your own login session. The audit ' +
      'log records both names.',
  ],
  say: ({ out }, { token, expiresAt }, { args: { user } }) => {
    out.line(token);
    out.note(`With it you act as ${safe(user)} until ${localTime(expiresAt)}.`);
    out.note('Pass it in ADJUTANT_TOKEN. To end it: adjutant logout, with it set.');
  },
});

export const usersGroup: CommandGroup = {
  summary: 'Manage user accounts (admin)',
  commands: [
    userCrud.list({
      examples: ['', '--role admin', '--q ada --json'],
      next: (rows) =>
        rows.length === 0 ? 'No matching users.' : 'Invite somebody: adjutant users invite',
    }),
    userCrud.update({
      examples: [
        'bob --role admin',
        'bob --daily-cost-usd 2.5',
        'bob --shell',
        'bob --daily-cost-usd null',
        'bob --edit',
      ],
      except: ['password'],
      secrets: ['password'],
      isPrivileged: true,
      notes: [
        'Changes of role and permissions need a login of the last ten minutes, or the password.',
        'null removes a value. The default of the settings and the role then applies.',
      ],
      seeAlso: 'adjutant users disable',
      message: (_, { username, role }) => `Updated: ${username}, ${role}.`,
    }),
    inviteUser,
    impersonateUser,
    userCrud.act('disable', endpoints.update, {
      summary: 'Disable a user',
      examples: ['bob', '4ew6rt --yes', 'bob --yes --json'],
      notes: [
        'Nothing is deleted. Login sessions, tokens, sockets and agents end. Hooks ' +
          'accept deliveries but do not fire.',
      ],
      seeAlso: 'adjutant users enable',
      body: { disabled: true },
      ask: (typed) =>
        `Disable ${safe(typed)}? Their login sessions, tokens and agents end at once.`,
      message: ({ username }) => `Disabled: ${username}.`,
    }),
    userCrud.act('enable', endpoints.update, {
      summary: 'Enable a user',
      examples: ['bob', '4ew6rt', 'bob --json'],
      body: { disabled: false },
      message: ({ username }) => `Enabled: ${username}. Their tokens must be created again.`,
    }),
  ],
  notes: ['More: adjutant users totp, users passkeys'],
};
