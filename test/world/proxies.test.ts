import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { addressSet } from '../../src/kernel/clientaddress.js';
import { frozenClock, PASSWORD, startApp, type TestApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { type BreakingProxy, startBreaking } from '../harness/tunnels/faults.js';
import { freePort } from '../harness/tunnels/port.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ORIGIN = 'https://assistant.example.net';

interface ProxiedReply {
  status: number;
  body: { code?: string; message?: string };
}

/** Sends a request with headers that fetch does not let through, such as Host. */
const ask = (
  app: TestApp,
  method: string,
  path: string,
  { body, headers }: { body?: object; headers: Record<string, string> },
): Promise<ProxiedReply> =>
  new Promise((resolve, reject) => {
    const type = body ? { 'content-type': 'application/json' } : {};
    const asked = request(`${app.url}${path}`, { method, headers: { ...type, ...headers } });
    asked.on('error', reject).on('response', (reply) => {
      text(reply).then((found) => {
        resolve({ status: reply.statusCode ?? 0, body: JSON.parse(found || '{}') });
      }, reject);
    });
    asked.end(body && JSON.stringify(body));
  });

/** Sends the lines of a request as they stand. Resolves to the status line of the reply. */
const sendLines = (app: TestApp, lines: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.on('error', reject);
    socket.once('data', (reply) => {
      resolve(String(reply).split('\r\n', 1)[0] ?? '');
      socket.destroy();
    });
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  });

/** The warnings in the log that a text is a part of. */
const warningsOf = (app: TestApp, part: string): Record<string, unknown>[] =>
  app.recent
    .after(null)
    .filter(({ level }) => level === 'warn')
    .map(({ text: line }) => JSON.parse(line))
    .filter(({ msg }) => msg.includes(part));

describe('the configuration of a proxy', () => {
  it('takes a certificate and its key together', async () => {
    const app = await startApp();
    const { token } = await app.register('ada');
    const query = 'proxy=nginx&publicUrl=https://hooks.example.org&certificate=/etc/tls/site.pem';
    const config = (more = '') => app.call('GET', `/api/tunnel/config?${query}${more}`, { token });
    const alone = await config();
    expect([alone.status, alone.body.details]).to.equal([
      400,
      [{ path: 'key', message: 'is required with certificate' }],
    ]);
    expect((await config('&key=/etc/tls/site.key')).body.text).to.include('/etc/tls/site.key');
    await app.stop();
  });
});

describe('a trusted proxy that states addresses in many forms', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp({
      clock: frozenClock(),
      config: { trustedProxies: ['127.0.0.1'], ratePerAddress: 5 },
    });
    token = (await app.register('ada')).token;
  });
  after(() => app.stop());

  const from = async (address: string): Promise<number> => {
    const headers = { 'x-forwarded-for': address };
    return (await app.call('GET', '/api/auth/me', { headers })).status;
  };

  it('gives each client a limit of its own, whatever its port', async () => {
    for (let port = 0; port < 6; port++) {
      expect(await from(`198.51.100.20:${40000 + port}`)).to.equal(port < 5 ? 401 : 429);
    }
    const others = ['198.51.100.21:1', '[2001:db8::21]:443', '"198.51.100.23"', '198.51.100.24'];
    for (const address of others) expect([address, await from(address)]).to.equal([address, 401]);
    expect(await from('[2001:db8:0:1::22]')).to.equal(401);
  });

  it('names the client in the sessions of a user', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7:51034' };
    const body = { username: 'ada', password: PASSWORD };
    const login = await app.call('POST', '/api/auth/login', { body, headers });
    expect(login.status).to.equal(200);
    const { sessions } = (await app.call('GET', '/api/auth/sessions', { token })).body;
    expect(JSON.stringify(sessions)).to.include('203.0.113.7').and.not.include('51034');
  });

  it('is told in the log and by the doctor where it states no address', async () => {
    expect(await from('unknown')).to.equal(401);
    expect(await from('_hidden')).to.equal(401);
    expect(warningsOf(app, 'no client address').map(({ msg }) => msg)).to.equal([
      'a trusted proxy sent no client address; the proxy address is used instead',
    ]);
    const { findings } = (await app.call('GET', '/api/admin/doctor', { token })).body;
    const found = findings.find(({ name }: { name: string }) => name === 'addresses');
    expect(found).to.equal({
      name: 'addresses',
      status: 'warn',
      detail:
        'a trusted proxy sent "unknown" instead of a client address. All of its clients share one rate limit',
      remedy:
        'configure the proxy to send the client address in X-Forwarded-For. See: adjutant tunnel config nginx',
    });
  });
});

describe('the range of a trusted proxy', () => {
  it('has a length in digits, or is refused', () => {
    expect(addressSet(['10.0.0.0/8', 'fd00::/8']).check('10.1.2.3')).to.be.true();
    for (const entry of ['10.0.0.0/', '10.0.0.0/1e1', '10.0.0.0/8/8', '10.0.0.0/33', 'fd00::/']) {
      expect(() => addressSet([entry]), entry).to.throw();
    }
  });
});

describe('the host of a passkey', () => {
  const app = openForSuite(lab, () =>
    startApp({ config: { publicUrl: ORIGIN, trustedProxies: ['127.0.0.1'] } }),
  );
  const begin = (headers: Record<string, string>) =>
    ask(app, 'POST', '/api/auth/passkey/authenticate', { body: {}, headers });

  it('is the same with a default port, a final dot, capitals, or forwarded', async () => {
    const local = new URL(app.url).host;
    const all: Record<string, string>[] = [
      { host: 'assistant.example.net' },
      { host: 'assistant.example.net:443' },
      { host: 'assistant.example.net.' },
      { host: 'ASSISTANT.example.net' },
      { host: local, 'x-forwarded-host': 'assistant.example.net' },
      { host: local, 'x-forwarded-host': 'assistant.example.net:443' },
    ];
    for (const headers of all) {
      expect([headers, (await begin(headers)).status]).to.equal([headers, 200]);
    }
  });

  it('is named where the proxy sends its own, with the remedy at the proxy', async () => {
    const { host, port } = new URL(app.url);
    const { status, body } = await begin({ host });
    expect([status, body.code, body.message]).to.equal([
      400,
      'no_relying_party',
      `Passkeys are bound to a host name, and "${host}" is not a host name of this daemon. ` +
        `Open http://localhost:${port}/passkeys or ${ORIGIN}/passkeys. ` +
        'If a proxy in front of the daemon changed the Host header, configure the proxy to pass it on (nginx: proxy_set_header Host $host)',
    ]);
  });
});

describe('a proxy that is not set up', () => {
  const app = openForSuite(lab, startApp);
  const register = (username: string) => {
    const body = JSON.stringify({ username, password: PASSWORD });
    return (version: string, headers: string[]) =>
      sendLines(app, [
        `POST /api/auth/register HTTP/${version}`,
        ...['Content-Type: application/json', `Content-Length: ${body.length}`],
        ...['Connection: close', ...headers, '', body],
      ]);
  };

  it('makes no request local, and is told once with its remedy', async () => {
    const host = `Host: ${new URL(app.url).host}`;
    const stranger = register('mallory');
    const marked: [string, string[]][] = [
      ['1.0', [host]],
      ['1.1', [host, 'Via: 1.1 proxy']],
      ['1.1', ['Host: assistant.example.net']],
      ['1.1', [host, 'X-Forwarded-Port: 443']],
      ['1.1', [host, 'X-Real-IP: 127.0.0.1']],
      ['1.1', [host, 'Forwarded: for=127.0.0.1']],
    ];
    for (const [version, headers] of marked) {
      const line = await stranger(version, headers);
      expect([headers, line]).to.equal([headers, 'HTTP/1.1 403 Forbidden']);
    }
    expect(await sendLines(app, ['GET /metrics HTTP/1.0', host])).to.equal(
      'HTTP/1.1 401 Unauthorized',
    );
    const about = warningsOf(app, 'proxy').map(({ msg, mark, remedy }) => [msg, { mark, remedy }]);
    expect(about).to.equal([
      [
        'a request arrived through an unconfigured proxy; it is not treated as local',
        {
          mark: 'HTTP/1.0',
          remedy:
            'set ADJUTANT_PUBLIC_URL and ADJUTANT_TRUSTED_PROXIES, and configure the proxy to send X-Forwarded-For. See: adjutant tunnel config nginx',
        },
      ],
    ]);
    expect(await register('ada')('1.1', [host])).to.equal('HTTP/1.1 201 Created');
  });

  it('is told by the doctor', async () => {
    const login = { username: 'ada', password: PASSWORD };
    const { token } = (await app.call('POST', '/api/auth/login', { body: login })).body;
    const { findings } = (await app.call('GET', '/api/admin/doctor', { token })).body;
    const found = findings.find(({ name }: { name: string }) => name === 'proxy');
    expect(found.status).to.equal('warn');
    expect(found.detail).to.match(
      /^a request came through a proxy that is not configured \(HTTP\/1\.0, last at 20[\d:.TZ-]+\)\. It does not count as local/,
    );
  });

  it('is told by the doctor with its last sign, until a restart', async () => {
    const login = { username: 'ada', password: PASSWORD };
    const { token } = (await app.call('POST', '/api/auth/login', { body: login })).body;
    const detail = async (): Promise<string | undefined> => {
      const { findings } = (await app.call('GET', '/api/admin/doctor', { token })).body;
      return findings.find(({ name }: { name: string }) => name === 'proxy')?.detail;
    };
    await sendLines(app, ['GET /health HTTP/1.1', 'Host: evil.example', 'Connection: close']);
    expect(await detail()).to.include('(the Host header "evil.example", last at 20');
    await app.restart();
    expect(await detail()).to.be.undefined();
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/ws`, { headers });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'subscribe', channels: ['agent.status'] }));
    await once(socket, 'message');
    socket.terminate();
    expect(await detail()).to.be.undefined();
  });

  it('is refused where it sends several hosts', async () => {
    const { host } = new URL(app.url);
    const hosts = [`Host: ${host}`, 'Host: evil.example'];
    const bad = 'HTTP/1.1 400 Bad Request';
    expect(await sendLines(app, ['GET /health HTTP/1.1', ...hosts])).to.equal(bad);
    expect(
      await sendLines(app, ['GET /health HTTP/1.1', hosts[0] ?? '', `hOST: ${host}`]),
    ).to.equal(bad);
    const post = ['POST /api/webhooks/nowhere HTTP/1.1', ...hosts, 'Content-Length: 0'];
    expect(await sendLines(app, [...post, 'Connection: close'])).to.equal(bad);
  });
});

describe('a proxy at the public address', () => {
  let app: TestApp;
  let proxy: BreakingProxy;
  let token: string;
  before(async () => {
    app = await startApp();
    token = (await app.register('ada')).token;
    const port = await freePort();
    proxy = await startBreaking({ port, to: app.url, certificate: null });
    const body = { provider: 'proxy', publicUrl: `http://127.0.0.1:${port}` };
    expect((await app.call('PUT', '/api/tunnel', { token, body })).status).to.equal(200);
  });
  after(async () => {
    await proxy.stop();
    await app.stop();
  });
  const front = async () => {
    const { findings } = (await app.call('GET', '/api/admin/doctor', { token })).body;
    return findings.find(({ name }: { name: string }) => name === 'front');
  };

  it('is found by the doctor where it adds no header, whatever its reply', async () => {
    const bare = (headers: Record<string, unknown>) => {
      delete headers['x-forwarded-for'];
    };
    const found = {
      name: 'front',
      status: 'fail',
      detail:
        'a request to the public address arrives without a proxy header, so it looks like a request of this machine',
      remedy: 'adjutant tunnel config caddy   or nginx. These configurations set X-Forwarded-For',
    };
    proxy.breakBy({ headers: bare });
    expect(await front()).to.equal(found);
    const reply = () => ({ status: 502, body: Buffer.from('') });
    proxy.breakBy({ headers: bare, reply });
    expect(await front()).to.equal(found);
  });

  it('is not found where it adds one, or where nothing arrives', async () => {
    proxy.breakBy({});
    expect(await front()).to.be.undefined();
    proxy.breakBy({ answer: (_, response) => !!response.writeHead(502).end() });
    expect(await front()).to.be.undefined();
    proxy.breakBy({ answer: ({ socket }) => !!socket.destroy() });
    expect(await front()).to.be.undefined();
  });

  it('is tried on no probe that stays open', async () => {
    let asked = '';
    proxy.breakBy({
      answer: ({ url = '' }) => {
        asked = url;
        return false;
      },
    });
    await front();
    expect(asked).to.match(/^\/api\/webhooks\/tunnel-check-/);
    expect((await app.call('POST', asked, { body: {} })).status).to.equal(404);
  });
});

describe('the clock of an authenticator app', () => {
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const keyOf = (secret: string): Buffer => {
    const bits = [...secret].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0'));
    const bytes = bits.join('').match(/.{8}/g) ?? [];
    return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
  };
  /** A code of so many steps from now (RFC 6238). */
  const codeOf = (secret: string, now: number, steps: number): string => {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000) + steps));
    const digest = createHmac('sha1', keyOf(secret)).update(counter).digest();
    const number = digest.readUInt32BE((digest[19] ?? 0) & 15) & 0x7fffffff;
    return String(number % 1_000_000).padStart(6, '0');
  };

  it('is named where a code fits another one, when codes are set up and tried', async () => {
    const clock = frozenClock();
    const app = await startApp({ clock });
    try {
      const { token } = await app.register('ada');
      const { secret } = (await app.call('POST', '/api/auth/totp/setup', { token, body: {} })).body;
      const tryCode = async (path: string, steps: number) => {
        const body = { code: codeOf(secret, clock.now(), steps) };
        const reply = await app.call('POST', `/api/auth/totp/${path}`, { token, body });
        return [reply.status, reply.body.message];
      };
      const off = (seconds: string) =>
        `The code is from a clock that is ${seconds} this machine. Set the clock of the phone or of this machine`;
      expect(await tryCode('enable', 2)).to.equal([401, off('60 s ahead of')]);
      expect(await tryCode('enable', -3)).to.equal([401, off('90 s behind')]);
      expect(await tryCode('enable', 12)).to.equal([401, 'The code is wrong or was already used']);
      expect((await tryCode('enable', 0))[0]).to.equal(200);
      expect(await tryCode('verify', -10)).to.equal([401, off('300 s behind')]);
    } finally {
      await app.stop();
    }
  });
});
