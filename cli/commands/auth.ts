import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { keepDevice, logInFromDevice, readDeviceToken } from '../../src/client/devices.js';
import { ApiError } from '../../src/client/errors.js';
import { contracts, type Login, type User } from '../../src/client/index.js';
import { dropSession, readSession, saveSession, sessionFile } from '../../src/client/session.js';
import { columnsOf } from '../columns.js';
import { type Context, command, on, textFlag } from '../command.js';
import { homeOf, shortPath } from '../daemon/environment.js';
import { runningDaemon } from '../daemon/process.js';
import { failed, unlessRefused, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readNewPassword, secretFrom, withInput } from '../input.js';
import { requestCommand } from '../request.js';
import { localTime } from '../text.js';
import { tokenOfLink } from './account.js';

const LIMIT_MS = 2 * 60 * 1000;
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/**
 * Logs in on the daemon's page in a browser of this machine. The page sends its code to a port here
 * (RFC 8252), and the code is worth nothing without the verifier, which never leaves this process
 * but to the daemon (RFC 7636).
 */
const loginByPasskey = async (context: Context, device: string): Promise<Login> => {
  const page = pageAt(context.url);
  const [state, verifier] = [secret(), secret()];
  const server = await listenForCode(state);
  try {
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const url = `${page}#cli=${portOf(server)}.${state}.${challenge}`;
    context.out.warn(`Open this in a browser on this machine, within two minutes:\n${url}`);
    if (context.ask.isPossible) openBrowser(url);
    const code = await codeFrom(server, context.signal);
    const client = (await context.client()).with({ token: undefined });
    const deviceToken = readDeviceToken(context.url);
    const body = { code, verifier, device, deviceToken };
    return await client.passkeys.redeem({ body });
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

/**
 * Replaces an address of this machine by `localhost`, since browsers allow passkeys for names only.
 */
const pageAt = (url: string): string => {
  const at = new URL(url);
  if (LOOPBACK.test(at.hostname)) at.hostname = 'localhost';
  else if (at.protocol !== 'https:') {
    throw failed(
      `Browsers allow no passkeys at ${url}: it has no TLS.`,
      'Use the public address: adjutant login --passkey --server https://…',
    );
  }
  return `${at.href.replace(/\/+$/, '')}/passkeys`;
};

const secret = (): string => randomBytes(32).toString('base64url');

/** Opens the local port to which the page sends the code, which is an event of the server. */
const listenForCode = async (state: string): Promise<Server> => {
  const server = createServer();
  server.on(
    'request',
    replyWith(state, (code) => server.emit('code', code)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

const portOf = (server: Server): number => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('No port to listen on');
  return address.port;
};

/** Refuses a request that does not know the state: this command opened no such page. */
const replyWith =
  (state: string, take: (code: string) => void): RequestListener =>
  ({ method, url = '' }, response) => {
    const given = new URL(url, 'http://127.0.0.1');
    const code = given.searchParams.get('code');
    const isOurs = given.pathname === '/' && given.searchParams.get('state') === state;
    const isRight = method === 'GET' && isOurs && code !== null;
    response.writeHead(isRight ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'cache-control': 'no-store',
      connection: 'close',
    });
    const html = isRight ? 'Done. Go back to the terminal; this page can be closed.' : 'Not found';
    response.end(`${html}\n`, () => {
      if (isRight) take(code);
    });
  };

const codeFrom = async (server: Server, signal: AbortSignal): Promise<string> => {
  const late = AbortSignal.timeout(LIMIT_MS);
  try {
    const [code] = await once(server, 'code', { signal: AbortSignal.any([signal, late]) });
    return code;
  } catch (error) {
    if (!late.aborted) throw error;
    throw failed(
      'Nobody logged in within two minutes. Nothing was done.',
      'Try again: adjutant login --passkey',
      'The browser must run on this machine. Over SSH: adjutant login',
    );
  }
};

/** Opens a browser. If there is none, the address on the terminal is enough. */
const openBrowser = (url: string): void => {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
};

const QUESTION = {
  ask: 'Setup code (shown at the start of the daemon, and in setup-code in its home)',
  instead: '--setup-code-file <home>/setup-code',
};

/** Reads or asks for the setup code, if the daemon replies that it is needed. */
const withSetupCode = <T>(
  context: Context,
  file: string | undefined,
  call: (body: { setupCode?: string }) => Promise<T>,
): Promise<T> => {
  const ask = async () => ({
    setupCode: (await secretFrom(context, file ?? ownFile(context), QUESTION)).trim(),
  });
  return withInput({ code: 'setup_code_required', isGiven: file !== undefined, ask }, call);
};

/**
 * Returns the setup code of the background daemon of this machine. It is sent to no other address.
 */
const ownFile = ({ url, flags }: Context): string | undefined => {
  const home = homeOf(flags.home);
  const file = join(home, 'setup-code');
  return runningDaemon(home)?.url === url && existsSync(file) ? file : undefined;
};

const endpoints = await contracts.auth();
const SECRETS = ['password', 'inviteToken', 'setupCode', 'totpCode', 'username', 'device'];
const passwordFile = textFlag('<file|->', 'Where the password is, instead of being asked for it');

const usernameFlag = textFlag('<name>', 'The name, in place of the argument');

/** The name from the argument or the flag, else asked for. Usage: both are given. */
const nameFrom = async (
  { ask }: Context,
  { name }: { name?: string },
  { username }: { username?: string },
): Promise<string> => {
  if (name !== undefined && username !== undefined) {
    throw usageFault('The name is given twice: as an argument and as --username.');
  }
  return name ?? username ?? ask.text({ ask: 'Name', instead: 'a name' });
};

const columns = columnsOf<User>(['name=username', 'role', 'id', 'email']);

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
    username: usernameFlag,
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
    const username = await nameFrom(context, args, flags);
    const password = await readNewPassword(context, 'Password', flags.passwordFile);
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
  summary: 'Log in, and stay logged in between commands',
  examples: ['', 'ada', 'ada --password-file - < ./password', '--passkey'],
  flags: {
    username: usernameFlag,
    passwordFile,
    passkey: on('With a passkey, in a browser of this machine'),
    totp: textFlag('<code>', 'Code of your authenticator app, or a recovery code'),
  },
  notes: [
    'The login session is kept in the config folder, one for each daemon, readable by you alone.',
    'In scripts set ADJUTANT_TOKEN instead.',
  ],
  seeAlso: 'adjutant whoami, adjutant help security',
  run: async (context, { args, flags }) => {
    if (flags.passkey) {
      return keep(context, await loginByPasskey(context, device()), 'Logged in');
    }
    const username = await nameFrom(context, args, flags);
    const instead = '--password-file';
    const password = await secretFrom(context, flags.passwordFile, { ask: 'Password', instead });
    const client = (await context.client()).with({ token: undefined });
    const body = { username, password, device: device(), totpCode: flags.totp };
    const question = { ask: 'Code of your authenticator app', instead: '--totp' };
    const ask = async () => ({ totpCode: await context.ask.text(question) });
    try {
      const logIn = (code: object) => logInFromDevice(client, { ...body, ...code });
      keep(
        context,
        await withInput({ code: 'totp_required', isGiven: false, ask }, logIn),
        'Logged in',
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.statusCode !== 401) throw error;
      throw failed(
        `Not logged in at ${context.url}: ${error.message}.`,
        'Try again: adjutant login',
      );
    }
  },
});

export const logout = command({
  name: 'logout',
  calls: [endpoints.logout],
  summary: 'Log out, here and at the daemon',
  examples: ['', '--server https://hooks.example.org', '--server-token-file ./token'],
  seeAlso: 'adjutant login',
  run: async (context) => {
    const { url, token } = context;
    if (!token) return context.out.note(`You were not logged in at ${url}.`);
    // The session may have ended already.
    await unlessRefused([401], (await context.client()).auth.logout());
    if (readSession(url)?.token === token) dropSession(url);
    context.out.note(`Logged out at ${url}.`);
  },
});

export const whoami = requestCommand({
  name: 'whoami',
  endpoint: endpoints.me,
  summary: 'Show who is logged in, and where',
  examples: ['', '--fields name,role', '--json'],
  seeAlso: 'adjutant login',
  show: ({ out, url }, user) => {
    if (out.format !== 'table') return out.item(user, columns);
    const until = readSession(url)?.expiresAt;
    out.line(`${user.username}, ${user.role}, at ${url}`);
    if (until) out.note(`Logged in until ${localTime(until)}.`);
  },
});

/** The name of the login session, with which it has 30 days. */
const device = (): string => `CLI on ${hostname()}`.slice(0, 100);

const keep = ({ url, out }: Context, { user, token, expiresAt }: Login, did: string): void => {
  saveSession(url, { token, username: user.username, expiresAt });
  if (out.format === 'json') out.json({ user, token, expiresAt });
  else if (out.format !== 'table') out.item(user, columns);
  const role = user.role === 'admin' ? ', the admin' : '';
  out.note(`${did} as ${user.username}${role} at ${url}, until ${localTime(expiresAt)}.`);
  out.note(`Login session kept in ${shortPath(sessionFile())} (0600).`);
};
