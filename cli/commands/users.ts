import { type Account, contracts } from '../../src/client/index.js';
import { columnsOf } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { crud } from '../crud.js';
import { requestCommand } from '../request.js';
import { localTime, safe } from '../text.js';
import { NOT_REACHED } from '../tunnel/address.js';
import { reachNotes } from '../tunnel/reach.js';

const endpoints = await contracts.users();

/** A user is known by the name of the account, its id, or the end of that. */
export const userCrud = crud({
  noun: 'user',
  rows: 'users',
  endpoints: { list: endpoints.list, update: endpoints.update },
  columns: columnsOf<Account>(
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
  summary: endpoints.invite.summary.replace('(`new` as the id)', 'for a new account'),
  examples: [
    '--email bob@example.org',
    '--role admin --expires-in-hours 2',
    'bob > reset-link.txt',
  ],
  except: ['password'],
  isPrivileged: true,
  notes: ['The link goes to stdout alone, this once. It works once: send it to nobody else.'],
  at: async (client, { user }) => ({ id: user ? await userCrud.id(client, user) : 'new' }),
  say: ({ out }, { url, reach, expiresAt }, { args: { user } }) => {
    out.note(user === undefined ? 'A new account:' : 'A new password:');
    out.line(url);
    if (reach === 'none') out.warn(NOT_REACHED);
    for (const line of reachNotes({ reach })) out.warn(line);
    out.note(`Works once, until ${localTime(expiresAt)}. Shown this once.`);
  },
});

/** The invite for a new account, in one word. */
export const invite = command({
  ...inviteUser,
  args: '',
  summary: 'Invite somebody: make a link for one account',
  examples: ['', '--email bob@example.org', '--role admin > link.txt'],
  seeAlso: 'adjutant users invite',
  run: (context, given) => inviteUser.run(context, { ...given, args: {} }),
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
    'The token goes to stdout alone. It ends with your own login session; the audit log keeps both names.',
  ],
  say: ({ out }, { token, expiresAt }, { args: { user } }) => {
    out.line(token);
    out.note(`You act as ${safe(user)} with it until ${localTime(expiresAt)}.`);
    out.note('Use it as ADJUTANT_TOKEN. End it: adjutant logout, with it set.');
  },
});

export const usersGroup: CommandGroup = {
  summary: 'Who has an account here, and what they may (admin)',
  commands: [
    userCrud.list({
      examples: ['', '--role admin', '--q ada --json'],
      next: (rows) =>
        rows.length === 0 ? 'Nobody is like that.' : 'Ask somebody in: adjutant users invite',
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
        'The role and the permissions take a login of the last ten minutes, or the password.',
        'null takes back what was set: then the settings and the role say it again.',
      ],
      seeAlso: 'adjutant users disable',
      message: (_, { username, role }) => `Changed: ${username}, ${role}.`,
    }),
    inviteUser,
    impersonateUser,
    userCrud.act('disable', endpoints.update, {
      summary: 'Disable a user at once; nothing is deleted',
      examples: ['bob', '4ew6rt --yes', 'bob --yes --json'],
      notes: [
        'Their login sessions, tokens, sockets and agents end. Their hooks take deliveries but do not fire.',
      ],
      seeAlso: 'adjutant users enable',
      body: { disabled: true },
      ask: (typed) =>
        `Disable ${safe(typed)}? Their login sessions, tokens and agents end at once.`,
      message: ({ username }) => `Disabled: ${username}.`,
    }),
    userCrud.act('enable', endpoints.update, {
      summary: 'Enable a user again, with all that is theirs',
      examples: ['bob', '4ew6rt', 'bob --json'],
      body: { disabled: false },
      message: ({ username }) => `Enabled: ${username}. Tokens must be made anew.`,
    }),
  ],
  notes: ['More: adjutant users totp, users passkeys'],
};
