import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { readDeviceToken } from '../../src/client/devices.js';
import type { Login } from '../../src/client/index.js';
import type { Context } from '../context.js';
import { failed } from '../exit.js';

const LIMIT_MS = 2 * 60 * 1000;
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/**
 * Logs in on the daemon's page in a browser of this machine. The page sends its code to a port here
 * (RFC 8252), and the code is worth nothing without the verifier, which never leaves this process
 * but to the daemon (RFC 7636).
 */
export const loginByPasskey = async (context: Context, device: string): Promise<Login> => {
  const page = pageAt(context.url);
  const [state, verifier] = [secret(), secret()];
  const door = await openDoor(state);
  try {
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const url = `${page}#cli=${door.port}.${state}.${challenge}`;
    context.out.warn(`Open this in a browser on this machine, within two minutes:\n${url}`);
    if (context.ask.isPossible) openBrowser(url);
    const code = await codeFrom(door, context.signal);
    const client = (await context.client()).with({ token: undefined });
    const deviceToken = readDeviceToken(context.url);
    const body = { code, verifier, device, deviceToken };
    return await client.passkeys.redeem({ body });
  } finally {
    door.close();
  }
};

/** Browsers have passkeys for names alone: this machine's is `localhost`. */
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

/** The local port to which the page sends the code. */
interface CodeListener {
  port: number;
  codes: EventEmitter;
  close(): void;
}

const openDoor = async (state: string): Promise<CodeListener> => {
  const codes = new EventEmitter();
  const server = createServer(answer(state, (code) => codes.emit('code', code)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    codes,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const portOf = (server: Server): number => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('No port to listen on');
  return address.port;
};

/** Refuses a request that does not know the state: this command opened no such page. */
const answer =
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
    const said = isRight ? 'Done. Go back to the terminal; this page can be closed.' : 'Not found';
    response.end(`${said}\n`, () => {
      if (isRight) take(code);
    });
  };

const codeFrom = async ({ codes }: CodeListener, signal: AbortSignal): Promise<string> => {
  const late = AbortSignal.timeout(LIMIT_MS);
  try {
    const [code] = await once(codes, 'code', { signal: AbortSignal.any([signal, late]) });
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

/** The address stands on the terminal too, so a machine without a browser is none the worse. */
const openBrowser = (url: string): void => {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
};
