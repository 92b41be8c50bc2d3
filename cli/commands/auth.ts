import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { logInFromDevice, readDeviceToken, storeDevice } from '../../src/client/devices.js';
import { ApiError } from '../../src/client/errors.js';
import { contracts, type Login, type User } from '../../src/client/index.js';
import { send } from '../../src/client/send.js';
import { dropSession, readSession, saveSession, sessionFile } from '../../src/client/session.js';
import { systemClock } from '../../src/kernel/clock.js';
import { buildColumns } from '../columns.js';
import { type Context, command, switchFlag, textFlag } from '../command.js';
import { resolveHome, shortPath } from '../daemon/environment.js';
import { runningDaemon } from '../daemon/process.js';
import { failed, nullIfRefused, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readNewPassword, readSecretInput, withInput } from '../input.js';
import { requestCommand } from '../request.js';
import { localTime, safe } from '../text.js';
import { tokenOfLink } from './account.js';

const LIMIT_MS = 2 * 60 * 1000;
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** The page of the daemon, and the flag that opens it. */
interface BrowserLogin {
  name: string;
  path: string;
  flag: string;
}

const passkeyLogin: BrowserLogin = { name: 'passkeys', path: '/passkeys', flag: '--passkey' };
const ssoLogin = (org: string): BrowserLogin => ({
  name: 'single sign-on',
  path: `/sso?${new URLSearchParams({ org })}`,
  flag: `--sso ${org}`,
});

/** Otherwise the browser would show the refusal while the program waits. */
const requireSso = async ({ url, signal }: Context, org: string): Promise<void> => {
  const path = `/api/saml/login?${new URLSearchParams({ org })}`;
  const { status } = await send(addressOfPages(url, ssoLogin(org)) + path, {
    method: 'GET',
    headers: {},
    signal,
  });
  if (status !== 400 && status !== 404) return;
  throw failed(
    `No organization ${safe(org)} uses single sign-on at ${url}.`,
    'Ask an admin of your organization for its short name.',
  );
};

/**
 * Logs in on the page of the daemon, in a browser on this machine. The page sends its code to a
 * local port (RFC 8252). The code is useless without the verifier, which is sent only to the
 * daemon (RFC 7636).
 */
const loginByBrowser = async (context: Context, way: BrowserLogin): Promise<Login> => {
  const page = `${addressOfPages(context.url, way)}${way.path}`;
  const [state, verifier] = [secret(), secret()];
  const server = await listenForCode(state);
  try {
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const url = `${page}#cli=${getListeningPort(server)}.${state}.${challenge}`;
    context.out.warn(`Open this address in a browser on this machine, within two minutes:\n${url}`);
    if (context.ask.isPossible) openBrowser(url);
    const code = await codeFrom(server, context.signal, way);
    const client = (await context.client()).with({ token: undefined });
    const deviceToken = readDeviceToken(context.url);
    const body = { code, verifier, device: device(), deviceToken };
    return await client.passkeys.redeem({ body });
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

/** Replaces a loopback address by `localhost`, because browsers allow passkeys only for names. */
const addressOfPages = (url: string, { name, flag }: BrowserLogin): string => {
  const at = new URL(url);
  if (LOOPBACK.test(at.hostname)) at.hostname = 'localhost';
  else if (at.protocol !== 'https:') {
    throw failed(
      `Browsers do not allow ${name} at ${url}, because it has no TLS.`,
      `Use the public address: adjutant login ${flag} --server https://…`,
    );
  }
  return at.href.replace(/\/+$/, '');
};

const secret = (): string => randomBytes(32).toString('base64url');

/** Opens the local port that receives the code. The server emits it as the event `code`. */
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

const getListeningPort = (server: Server): number => {
  const address = server.address();
  if (typeof address !== 'object' || address === null)
    throw new Error('The login page has no port to listen on');
  return address.port;
};

/** Refuses a request with an unknown state: this command did not open that page. */
const replyWith =
  (state: string, take: (code: string) => void): RequestListener =>
  ({ method, url = '' }, response) => {
    const input = new URL(url, 'http://127.0.0.1');
    const code = input.searchParams.get('code');
    const isOurs = input.pathname === '/' && input.searchParams.get('state') === state;
    const isRight = method === 'GET' && isOurs && code !== null;
    response.writeHead(isRight ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'cache-control': 'no-store',
      connection: 'close',
    });
    const text = isRight ? 'Done. Return to the terminal. You can close this page.' : 'Not found';
    response.end(`${text}\n`, () => {
      if (isRight) take(code);
    });
  };

const codeFrom = async (
  server: Server,
  signal: AbortSignal,
  { flag }: BrowserLogin,
): Promise<string> => {
  const late = systemClock.deadline(LIMIT_MS);
  try {
    const [code] = await once(server, 'code', { signal: AbortSignal.any([signal, late]) });
    return code;
  } catch (error) {
    if (!late.aborted) throw error;
    throw failed(
      'No login within two minutes. Nothing was changed.',
      `Try again: adjutant login ${flag}`,
      'The browser must run on this machine. Over SSH: adjutant login',
    );
  }
};

/** If there is no browser, the printed address is enough. */
const openBrowser = (url: string): void => {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
};

const QUESTION = {
  ask: 'Setup code (printed at the start of the daemon, and in setup-code in its home)',
  instead: '--setup-code-file <home>/setup-code',
};

/** Asks for the setup code if the daemon requires it. */
const withSetupCode = <T>(
  context: Context,
  file: string | undefined,
  call: (body: { setupCode?: string }) => Promise<T>,
): Promise<T> => {
  const ask = async () => ({
    setupCode: (await readSecretInput(context, file ?? ownFile(context), QUESTION)).trim(),
  });
  return withInput({ code: 'setup_code_required', isGiven: file !== undefined, ask }, call);
};

/**
 * Returns the setup code file of the background daemon on this machine. The code is sent to no
 * other address.
 */
const ownFile = ({ url, flags }: Context): string | undefined => {
  const home = resolveHome(flags.home);
  const file = join(home, 'setup-code');
  return runningDaemon(home)?.url === url && existsSync(file) ? file : undefined;
};

const endpoints = await contracts.auth();
const SECRETS = ['password', 'inviteToken', 'setupCode', 'totpCode', 'username', 'device'];
const passwordFile = textFlag(
  '<file|->',
  'File with your password. If not set, the command asks for the password',
);

const usernameFlag = textFlag('<name>', 'Username. Alternative to the name argument');

const nameFrom = async (
  { ask }: Context,
  { name }: { name?: string },
  { username }: { username?: string },
): Promise<string> => {
  if (name !== undefined && username !== undefined) {
    throw usageFault(
      'The name was passed twice: as an argument and with --username. Pass the name once.',
    );
  }
  return name ?? username ?? ask.text({ ask: 'Name', instead: 'a name' });
};

const columns = buildColumns<User>(['name=username', 'role', 'id', 'email']);

export const register = command({
  name: 'register',
  args: '[name]',
  calls: [endpoints.register],
  summary: 'Create an account (the first account is the admin)',
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
    inviteFile: textFlag('<file|->', 'File with the invite link or its token'),
    setupCodeFile: textFlag(
      '<file|->',
      'File with the setup code. The daemon creates <home>/setup-code',
    ),
  },
  notes: [
    'No flag takes a password, because other users of this machine could see it.',
    'The first account needs a setup code if other machines can reach the daemon.',
  ],
  seeAlso: 'adjutant login, adjutant help start',
  run: async (context, { args, flags, fields }) => {
    const username = await nameFrom(context, args, flags);
    const password = await readNewPassword(context, 'Password', flags.passwordFile);
    const question = { ask: 'Invite', instead: '--invite-file' };
    const inviteToken =
      flags.inviteFile && tokenOfLink(await readSecretInput(context, flags.inviteFile, question));
    const more = { username, password, inviteToken, device: device() };
    const body = await requestFrom(endpoints.register.body, { fields, more }, context.at);
    const client = await context.client();
    const made = await withSetupCode(context, flags.setupCodeFile, (setupCode) =>
      client.auth.register({ body: { ...body, ...setupCode } }),
    );
    keep(context, storeDevice(client, made), 'Registered');
  },
});

export const login = command({
  name: 'login',
  args: '[name]',
  calls: [endpoints.login, 'passkeys redeem'],
  summary: 'Log in and store the login session',
  examples: ['', 'ada', 'ada --password-file - < ./password', '--passkey', '--sso acme'],
  flags: {
    username: usernameFlag,
    passwordFile,
    passkey: switchFlag('Log in with a passkey, in a browser on this machine'),
    sso: textFlag('<organization>', 'Log in with single sign-on, in a browser on this machine'),
    totp: textFlag('<code>', 'Code of your authenticator app, or a recovery code'),
  },
  notes: [
    'The login session is stored in the config folder, one per daemon, readable only by you.',
    'In scripts, set ADJUTANT_TOKEN instead.',
  ],
  seeAlso: 'adjutant whoami, adjutant help security',
  run: async (context, { args, flags }) => {
    if (flags.passkey) {
      return keep(context, await loginByBrowser(context, passkeyLogin), 'Logged in');
    }
    if (flags.sso !== undefined) {
      await requireSso(context, flags.sso);
      return keep(context, await loginByBrowser(context, ssoLogin(flags.sso)), 'Logged in');
    }
    const username = await nameFrom(context, args, flags);
    const instead = '--password-file';
    const password = await readSecretInput(context, flags.passwordFile, {
      ask: 'Password',
      instead,
    });
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
        `Login at ${context.url} failed: ${error.message}.`,
        'Try again: adjutant login',
      );
    }
  },
});

export const logout = command({
  name: 'logout',
  calls: [endpoints.logout],
  summary: 'Log out and end the login session',
  examples: ['', '--server https://hooks.example.org', '--server-token-file ./token'],
  seeAlso: 'adjutant login',
  run: async (context) => {
    const { url, token } = context;
    if (!token) return context.out.note(`You were not logged in at ${url}.`);
    // The session may have ended already.
    await nullIfRefused([401], (await context.client()).auth.logout());
    if (readSession(url)?.token === token) dropSession(url);
    context.out.note(`Logged out at ${url}.`);
  },
});

export const whoami = requestCommand({
  name: 'whoami',
  endpoint: endpoints.me,
  summary: 'Show the current user and the daemon',
  examples: ['', '--fields name,role', '--json'],
  seeAlso: 'adjutant login',
  show: ({ out, url }, user) => {
    if (out.format !== 'table') return out.item(user, columns);
    const until = readSession(url)?.expiresAt;
    out.line(`${user.username}, ${user.role}, at ${url}`);
    if (until) out.note(`Logged in until ${localTime(until)}.`);
  },
});

/** Name of the login session. A named session lasts 30 days. */
const device = (): string => `CLI on ${hostname()}`.slice(0, 100);

const keep = ({ url, out }: Context, { user, token, expiresAt }: Login, did: string): void => {
  saveSession(url, { token, username: user.username, expiresAt });
  if (out.format === 'json') out.json({ user, token, expiresAt });
  else if (out.format !== 'table') out.item(user, columns);
  const role = user.role === 'admin' ? ', the admin' : '';
  out.note(`${did} as ${user.username}${role} at ${url}, until ${localTime(expiresAt)}.`);
  out.note(`Login session stored in ${shortPath(sessionFile())} (0600).`);
};
