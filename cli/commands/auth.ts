import { hostname } from 'node:os';
import { keepDevice, logInKnown } from '../../src/client/devices.js';
import { ApiError } from '../../src/client/errors.js';
import { contracts, type Login, type User } from '../../src/client/index.js';
import { dropSession, readSession, saveSession, sessionFile } from '../../src/client/session.js';
import { loginByPasskey } from '../auth/passkey.js';
import { readNewPassword } from '../auth/password.js';
import { tokenOfLink } from '../auth/reset.js';
import { withSetupCode } from '../auth/setupcode.js';
import { fieldColumns, type TableColumn } from '../columns.js';
import { command, on, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { shortPath } from '../daemon/environment.js';
import { failed } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { secretFrom } from '../input.js';
import { localTime } from '../times.js';

const endpoints = await contracts.auth();
const SECRETS = ['password', 'inviteToken', 'setupCode', 'totpCode', 'username', 'device'];
const passwordFile = textFlag('<file|->', 'Where the password is, instead of being asked for it');

const columns: TableColumn<User>[] = [
  { name: 'name', value: (user) => user.username },
  ...fieldColumns('role', 'id', 'email'),
];

export const register = command({
  name: 'register',
  args: '[name]',
  calls: [endpoints.register],
  summary: 'Make an account; the first becomes the admin',
  examples: [
    '',
    'ada --password-file ./password',
    'ada --email ada@example.org',
    'ada --setup-code-file /srv/adjutant/setup-code',
  ],
  fields: () => requestFields(endpoints.register.body, SECRETS),
  flags: {
    passwordFile,
    inviteFile: textFlag('<file|->', 'Where the link of the invite is, or its token'),
    setupCodeFile: textFlag('<file|->', 'Where the setup code is: <home>/setup-code of the daemon'),
  },
  notes: [
    'The password is never a flag: other users of this machine would see it.',
    'The first account takes a setup code where the daemon is not for this machine alone.',
  ],
  seeAlso: 'adjutant login, adjutant help start',
  run: async (context, { args, flags, fields }) => {
    const username = args.name ?? (await context.ask.text({ ask: 'Name', instead: 'a name' }));
    const password = await readNewPassword(context, {
      ask: 'Password',
      file: flags.passwordFile,
    });
    const question = { ask: 'Invite', instead: '--invite-file' };
    const inviteToken =
      flags.inviteFile && tokenOfLink(await secretFrom(context, flags.inviteFile, question));
    const more = { username, password, inviteToken, device: device() };
    const body = await requestFrom(endpoints.register.body, { fields, more }, context.at);
    const client = await context.client();
    const made = await withSetupCode(context, flags.setupCodeFile, (setupCode) =>
      client.auth.register({ body: { ...body, ...setupCode } }),
    );
    keep(context, keepDevice(client, made), 'Registered');
  },
});

export const login = command({
  name: 'login',
  args: '[name]',
  calls: [endpoints.login, 'passkeys redeem'],
  summary: 'Log in, and stay so between commands',
  examples: ['', 'ada', 'ada --password-file - < ./password', '--passkey'],
  flags: {
    passwordFile,
    passkey: on('With a passkey, in a browser of this machine'),
    totp: textFlag('<code>', 'Code of your authenticator app, or a recovery code'),
  },
  notes: [
    'The session is kept in the config folder, readable by you alone, one for each address.',
    'In scripts set ADJUTANT_TOKEN instead.',
  ],
  seeAlso: 'adjutant whoami, adjutant help security',
  run: async (context, { args, flags }) => {
    if (flags.passkey) {
      return keep(context, await loginByPasskey(context, device()), 'Logged in');
    }
    const username = args.name ?? (await context.ask.text({ ask: 'Name', instead: 'a name' }));
    const instead = '--password-file';
    const password = await secretFrom(context, flags.passwordFile, { ask: 'Password', instead });
    const client = (await context.client()).with({ token: undefined });
    const body = { username, password, device: device(), totpCode: flags.totp };
    try {
      keep(context, await withCode(context, body, (body) => logInKnown(client, body)), 'Logged in');
    } catch (error) {
      if (!(error instanceof ApiError) || error.statusCode !== 401) throw error;
      throw failed(
        `Not logged in at ${context.url}: ${error.message}.`,
        'Try again: adjutant login',
      );
    }
  },
});

/** The code is asked for where the account needs one. */
const withCode = async <B extends { totpCode?: string }>(
  { ask }: Context,
  body: B,
  logIn: (body: B) => Promise<Login>,
): Promise<Login> => {
  try {
    return await logIn(body);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'totp_required') throw error;
    const totpCode = await ask.text({ ask: 'Code of your authenticator app', instead: '--totp' });
    return logIn({ ...body, totpCode });
  }
};

export const logout = command({
  name: 'logout',
  calls: [endpoints.logout],
  summary: 'Log out, here and at the daemon',
  examples: ['', '--server https://hooks.example.org', '--server-token-file ./token'],
  seeAlso: 'adjutant login',
  run: async (context) => {
    const { url, token } = context;
    if (!token) return context.out.note(`You were not logged in at ${url}.`);
    try {
      await (await context.client()).auth.logout();
    } catch (error) {
      // The session has ended already.
      if (!(error instanceof ApiError) || error.statusCode !== 401) throw error;
    }
    if (readSession(url)?.token === token) dropSession(url);
    context.out.note(`Logged out at ${url}.`);
  },
});

export const whoami = command({
  name: 'whoami',
  calls: [endpoints.me],
  summary: 'Who you are, and where',
  examples: ['', '--fields name,role', '--json'],
  seeAlso: 'adjutant login',
  run: async (context) => {
    const user = await (await context.client()).auth.me();
    if (context.out.format !== 'table') return context.out.item(user, columns);
    const until = readSession(context.url)?.expiresAt;
    context.out.line(`${user.username}, ${user.role}, at ${context.url}`);
    if (until) context.out.note(`Logged in until ${localTime(until)}.`);
  },
});

/** Names the session, which gives it 30 days. */
const device = (): string => `CLI on ${hostname()}`.slice(0, 100);

const keep = ({ url, out }: Context, { user, token, expiresAt }: Login, did: string): void => {
  saveSession(url, { token, username: user.username, expiresAt });
  if (out.format === 'json') out.json({ user, token, expiresAt });
  else if (out.format !== 'table') out.item(user, columns);
  const role = user.role === 'admin' ? ', the admin' : '';
  out.note(`${did} as ${user.username}${role} at ${url}, until ${localTime(expiresAt)}.`);
  out.note(`Session kept in ${shortPath(sessionFile())} (0600).`);
};
