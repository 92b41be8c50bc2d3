import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { EgressRefused } from '../../src/kernel/egress.js';
import { HttpFailure } from '../../src/kernel/failure.js';
import { createHttp, type Http } from '../../src/kernel/http.js';
import { type Listening, listen, listenTcp } from './listen.js';
import { spellings } from './spellings.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

/** Answers the n-th question with the n-th list, and the last one ever after. */
const answering = (...answers: string[][]) => {
  const asked: string[] = [];
  const lookup = async (host: string) =>
    answers[Math.min(asked.push(host), answers.length) - 1] ?? [];
  return { asked, lookup };
};

const failing = async (http: Http, url: string, allow: string[] = []): Promise<unknown> => {
  try {
    await http.request({ method: 'GET', url, allow });
  } catch (error) {
    return error;
  } finally {
    await http.close();
  }
  return 'no failure';
};

describe('dial', () => {
  let canary: Listening;
  let other: Listening | null = null;

  before(async () => {
    canary = await listen();
    if (hasIPv6) other = await listenTcp((socket) => socket.end(), '::1');
  });
  after(async () => {
    await canary.close();
    await other?.close();
  });

  const untouched = () =>
    expect([canary.sockets.length, other?.sockets.length ?? 0]).to.equal([0, 0]);

  it('reaches no listener of this machine under any spelling', async () => {
    const http = createHttp({ allow: [] });
    const urls = spellings().flatMap((host) =>
      [canary, other ?? canary].map(({ port }) => `http://${host}:${port}/`),
    );
    expect(urls.length).to.be.at.least(400);
    for (const url of urls)
      await expect(http.request({ method: 'POST', url, body: 'x' })).to.reject(EgressRefused);
    untouched();
    await http.close();
  });

  it('refuses a name with a private answer, whatever stands beside it', async () => {
    const answers = [
      ['127.0.0.1'],
      ['::1'],
      ['::ffff:127.0.0.1'],
      ['8.8.8.8', '127.0.0.1'],
      ['127.0.0.1', '8.8.8.8'],
      ['2606:4700::1111', '::1'],
      ['8.8.8.8', 'fe80::1%lo'],
    ];
    for (const answer of answers) {
      const http = createHttp({ allow: [], lookup: async () => answer });
      const error = await failing(http, `http://rebind.test:${canary.port}/`);
      expect(error).to.be.instanceof(EgressRefused);
      expect(error).to.include({ host: 'rebind.test', effectBegan: false });
    }
    untouched();
  });

  it('does not tell the address behind a refused name', async () => {
    const http = createHttp({ allow: [], lookup: async () => ['10.20.30.40'] });
    const error = await failing(http, 'http://rebind.test/');
    expect(String(error)).to.not.contain('10.20');
  });

  it('asks once per connection and dials what it checked', async () => {
    const server = await listen((_request, response) => {
      response.setHeader('connection', 'close').end('here');
    });
    const { asked, lookup } = answering(['127.0.0.1'], ['127.0.0.2']);
    const http = createHttp({ allow: [server.entry], lookup });
    const url = `http://rebind.test:${server.port}/`;
    expect((await http.request({ method: 'GET', url })).body.toString()).to.equal('here');
    expect(asked).to.equal(['rebind.test']);
    expect(await failing(http, url)).to.be.instanceof(EgressRefused);
    expect(asked).to.equal(['rebind.test', 'rebind.test']);
    expect(server.got.length).to.equal(1);
    await server.close();
  });

  it('tries the next checked address where one does not answer', async () => {
    const server = await listen();
    const lookup = async () => ['127.0.0.3', '127.0.0.1'];
    const http = createHttp({ allow: ['127.0.0.0/8'], lookup });
    const reply = await http.request({ method: 'GET', url: `http://two.test:${server.port}/` });
    expect(reply.status).to.equal(200);
    await http.close();
    await server.close();
  });

  it('reaches what is allowed by host, host:port, address or network', async () => {
    const server = await listen();
    const { port, entry } = server;
    const lookup = async () => ['127.0.0.1'];
    const cases = [
      ['127.0.0.1', server.origin],
      [entry, server.origin],
      ['127.0.0.0/8', server.origin],
      ['127.0.0.0/8', `http://named.test:${port}`],
      ['named.test', `http://named.test:${port}`],
      [`named.test:${port}`, `http://named.test:${port}`],
      ['localhost', `http://localhost:${port}`],
    ];
    for (const [allowed = '', url = ''] of cases) {
      const http = createHttp({ allow: [allowed], lookup });
      expect((await http.request({ method: 'GET', url })).status).to.equal(200);
      await http.close();
      const narrow = createHttp({ allow: [], lookup });
      await narrow.request({ method: 'GET', url, allow: [allowed] });
      expect(await failing(narrow, url)).to.be.instanceof(EgressRefused);
    }
    expect(server.got.length).to.equal(cases.length * 2);
    await server.close();
  });

  it('reaches an allowed IPv6 literal', { skip: !hasIPv6 }, async () => {
    const server = await listenTcp(
      (socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'),
      '::1',
    );
    const http = createHttp({ allow: [server.entry] });
    expect((await http.request({ method: 'GET', url: server.origin })).status).to.equal(204);
    await http.close();
    await server.close();
  });

  it('lends no open connection to a call without the allowance', async () => {
    const server = await listen();
    const http = createHttp({ allow: [], lookup: async () => ['127.0.0.1'] });
    const out = { method: 'GET', url: `http://pool.test:${server.port}/` };
    const allow = [`pool.test:${server.port}`];
    await http.request({ ...out, allow });
    await setImmediate(); // undici frees the connection at the end of the turn
    await http.request({ ...out, allow });
    await setImmediate();
    expect([server.got.length, server.sockets.length]).to.equal([2, 1]);
    await expect(http.request(out)).to.reject(EgressRefused);
    await expect(http.request({ ...out, allow: ['pool.test:1'] })).to.reject(EgressRefused);
    expect([server.got.length, server.sockets.length]).to.equal([2, 1]);
    await http.close();
    await server.close();
  });

  it('goes past a proxy that the environment names', async () => {
    const server = await listen();
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    const proxied = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = canary.origin;
    const http = createHttp({ allow: [server.entry] });
    expect((await http.request({ method: 'GET', url: server.origin })).status).to.equal(200);
    for (const [name, value] of proxied)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    untouched();
    await http.close();
    await server.close();
  });

  it('names what kept it from connecting, and that nothing began', async () => {
    const plain = await listen();
    const gone = await listen();
    await gone.close();
    const unknown = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND no.test'), { code: 'ENOTFOUND' });
    };
    const cases = [
      ['dns', 'http://no.test/'],
      ['refused_connection', gone.origin],
      ['tls', `https://${plain.entry}/`],
    ];
    for (const [kind = '', url = ''] of cases) {
      const http = createHttp({ allow: ['127.0.0.1'], lookup: unknown });
      const error = await failing(http, url);
      expect(error).to.be.instanceof(HttpFailure);
      expect(error).to.include({ kind, effectBegan: false, host: new URL(url).hostname });
    }
    const nothing = createHttp({ allow: [], lookup: async () => [] });
    expect(await failing(nothing, 'http://no.test/')).to.include({ kind: 'dns' });
    expect(plain.got).to.equal([]);
    await plain.close();
  });

  it('trusts no certificate that nobody vouches for', async () => {
    // Without a certificate the handshake ends in an alert.
    const server = createServer(() => {});
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const http = createHttp({ allow: ['127.0.0.1'] });
    const error = await failing(http, `https://127.0.0.1:${port}/`);
    expect(error).to.include({ kind: 'tls', effectBegan: false });
    server.close();
  });

  it('sends nothing once given up while connecting', async () => {
    const server = await listen();
    let release: (addresses: string[]) => void = () => {};
    const http = createHttp({
      allow: [server.entry],
      lookup: () => new Promise((resolve) => (release = resolve)),
    });
    const out = { method: 'POST', url: `http://slow.test:${server.port}/`, body: 'x' };
    const error = await http.request({ ...out, firstByteMs: 20 }).catch((failure) => failure);
    expect(error).to.include({ kind: 'timeout', effectBegan: false });
    const connected = once(server.server, 'connection');
    release(['127.0.0.1']);
    await connected;
    await server.emptied();
    expect(server.got).to.equal([]);
    await http.close();
    await server.close();
  });
});
