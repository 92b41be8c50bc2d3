import { type AccessToken, contracts, type LoginSession } from '../../src/client/index.js';
import { readSession, saveSession } from '../../src/client/session.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { readNewPassword, readSecretInput } from '../input.js';
import { requestCommand } from '../request.js';
import { ago, localTime, now, oneLine, safe } from '../text.js';
import { linkChannel } from './channels.js';

const { password: change } = await contracts.auth();
const { reset } = await contracts.users();
const logins = await contracts.logins();
const tokens = await contracts.tokens();

const changePassword = requestCommand({
  name: 'password',
  endpoint: change,
  examples: [
    '',
    '--current-file ./old --password-file ./new',
    '--current-file ./old --password-file - < ./new',
  ],
  flags: {
    currentFile: textFlag(
      '<file|->',
      'File with the current password, or - for stdin. If not set, the command asks for the password',
    ),
    passwordFile: textFlag(
      '<file|->',
      'File with the new password, or - for stdin. If not set, the command asks for the password',
    ),
  },
  notes: ['No flag takes a password, because other users of this machine could see it.'],
  seeAlso: 'adjutant auth sessions, adjutant auth tokens',
  more: async (context, { flags }) => {
    const question = { ask: 'Current password', instead: '--current-file' };
    const current = await readSecretInput(context, flags.currentFile, question);
    return { current, next: await readNewPassword(context, 'New password', flags.passwordFile) };
  },
  say: ({ out }, { sessionsEnded, tokensLeft }) => {
    out.note(`Password changed. Other login sessions ended: ${sessionsEnded}.`);
    if (tokensLeft === 0) return;
    out.note(`Tokens that stay valid: ${tokensLeft}. List them: adjutant auth tokens list`);
  },
});

const passwordReset = command({
  name: 'reset',
  calls: [reset],
  examples: [
    '',
    '--link-file ./link --password-file ./new',
    '--link-file - --password-file ./new < ./link',
  ],
  flags: {
    linkFile: textFlag(
      '<file|->',
      'File with the reset link or its token. If not set, the command asks for the link',
    ),
    passwordFile: textFlag(
      '<file|->',
      'File with the new password. If not set, the command asks for the password',
    ),
  },
  notes: ['An admin creates the link: adjutant users invite <user>'],
  seeAlso: 'adjutant recover, adjutant login',
  run: async (context, { flags }) => {
    const question = { ask: 'Reset link', instead: '--link-file' };
    const inviteToken = tokenOfLink(await readSecretInput(context, flags.linkFile, question));
    const password = await readNewPassword(context, 'New password', flags.passwordFile);
    const client = (await context.client()).with({ token: undefined });
    const reply = await client.users.reset({ body: { inviteToken, password } });
    const next = `adjutant login ${oneLine(reply.username)}`;
    context.out.done(`Password set. Log in: ${next}`, reply, buildColumns(['username']));
  },
});

/** Returns the token of a link, which is the part after `#`, or the token itself. */
export const tokenOfLink = (input: string): string => input.trim().replace(/^.*#/, '');

const refreshToken = command({
  name: 'refresh',
  calls: [logins.refresh],
  examples: ['', '--server-token-file ./token > fresh-token', '--json'],
  notes: ['The stored login is updated. The new token of any other login is printed to stdout.'],
  seeAlso: 'adjutant login',
  run: async (context) => {
    const { url, token, out } = context;
    const kept = readSession(url);
    const fresh = await (await context.client()).logins.refresh();
    const isKept = kept !== null && kept.token === token;
    if (isKept) saveSession(url, { ...kept, ...fresh });
    if (out.format === 'json') out.json(fresh);
    else if (!isKept) out.line(fresh.token);
    out.note(`Valid until ${localTime(fresh.expiresAt)}.`);
  },
});

const loginCrud = crud({
  noun: 'login',
  argument: 'session',
  path: 'auth sessions',
  rows: 'sessions',
  endpoints: logins,
  columns: buildColumns<LoginSession>(
    ['id:data'],
    { name: 'device', value: ({ device }) => device, show: ({ device }) => device ?? 'no name' },
    { name: 'state', value: ({ current }) => (current ? 'current' : 'open') },
    ['address', 'used=lastUsedAt:ago', 'begun=createdAt:ago', 'ends=expiresAt:ago'],
    ['short=id:tail'],
  ),
  named: ({ id, device }) => ({ id, name: device ?? '' }),
});

export const loginsGroup: CommandGroup = {
  commands: [
    loginCrud.list({
      examples: ['', '--json', '--fields id,device'],
      next: () => 'Unknown session? adjutant auth sessions delete <id>, then auth password',
    }),
    loginCrud.end({
      examples: ['4ew6rt', '"CLI on laptop" --yes', '4ew6rt --yes'],
      ask: () => 'End this login session? Its user must log in again.',
      message: 'Login session ended.',
    }),
  ],
};

const expiry = ({ expiresAt }: AccessToken): string =>
  Date.parse(expiresAt) <= now() ? 'expired' : ago(expiresAt);

const createToken = requestCommand({
  name: 'create',
  args: '<name>',
  endpoint: tokens.create,
  examples: [
    'ci --scopes hooks:read,agents:read',
    'backup --expires-in-days 30 > token.txt',
    'ci --password-file - < ./password',
  ],
  except: ['name', 'password'],
  isPrivileged: true,
  notes: [
    'A scope is an API resource with :read or :write. Write access does not include read access.',
    'The token is printed to stdout, once. Scripts pass the token in ADJUTANT_TOKEN.',
  ],
  seeAlso: 'adjutant help scripting',
  more: (_, { args: { name } }) => ({ name }),
  say: ({ out }, { token, expiresAt, scopes }) => {
    out.note('New token, shown only once:');
    out.line(token);
    out.note(`Valid until ${localTime(expiresAt)}.`);
    if (!scopes)
      out.note('It grants all of your rights except approval decisions and admin actions.');
  },
});

const tokenCrud = crud({
  noun: 'token',
  path: 'auth tokens',
  rows: 'tokens',
  endpoints: tokens,
  columns: buildColumns<AccessToken>(
    ['id:data', 'name'],
    { name: 'scopes', value: ({ scopes }) => scopes?.join(' ') ?? 'all' },
    { name: 'expires', value: ({ expiresAt }) => expiresAt, show: expiry },
    ['used=lastUsedAt:ago', 'made=createdAt:ago', 'short=id:tail'],
  ),
  named: (token) => token,
});

export const tokensGroup: CommandGroup = {
  commands: [
    tokenCrud.list({
      examples: ['', '--json', '--fields name,expires'],
      next: (rows) =>
        rows.length === 0 ? 'No tokens. Create one: adjutant auth tokens create <name>' : undefined,
    }),
    createToken,
    tokenCrud.end({
      examples: ['ci', '4ew6rt --yes', 'ci --yes'],
      ask: (typed) => `Delete the token ${safe(typed)}? Programs that use it are refused at once.`,
      message: 'Deleted.',
    }),
  ],
};

export const account: CommandGroup = {
  commands: [
    changePassword,
    passwordReset,
    refreshToken,
    { ...linkChannel, examples: ['K7MPXA', '', 'K7MPXA --yes'] },
  ],
  notes: ['More: adjutant auth sessions, auth tokens, auth totp, auth passkeys'],
};
