import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { BadUrl, EgressRefused } from '../../src/kernel/egress.js';
import { HttpFailure } from '../../src/kernel/failure.js';
import { createHttp, type Http } from '../../src/kernel/http.js';
import type { CallLimits } from '../../src/kernel/redirect.js';
import { type FrozenClock, frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';
import { type Listening, listen } from './listen.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('http', () => {
  let clock: FrozenClock;
  let http: Http;
  let servers: Listening[];

  beforeEach(() => {
    clock = frozenClock();
    http = createHttp({ allow: ['git.local'], clock });
    servers = [];
  });
  afterEach(async () => {
    await http.close();
    await Promise.all(servers.map((server) => server.close()));
  });

  const serving = async (answer?: RequestListener): Promise<Listening> => {
    const server = await listen(answer);
    servers.push(server);
    return server;
  };

  describe('check()', () => {
    it('refuses what can never be reached as written, and nothing else', () => {
      http.check('https://example.com/hook');
      http.check('http://git.local:3000/');
      expect(() => http.check('http://127.1/')).to.throw(EgressRefused);
      expect(() => http.check('http://localhost:3005/')).to.throw(EgressRefused);
      expect(() => http.check('ftp://example.com/')).to.throw(BadUrl);
    });
  });

  describe('createHttp()', () => {
    it('stops at an allow entry that is none', () => {
      expect(() => createHttp({ allow: ['http://a.test/'] })).to.throw(/^egressAllow: "http:/);
    });
  });

  describe('request()', () => {
    const ask = (server: Listening, more: object = {}) =>
      http.request({ method: 'GET', url: server.origin, allow: [server.entry], ...more });

    it('takes of a body what is enough, and leaves the rest, however much that is', async () => {
      const server = await serving((_request, response) => {
        response.end(Buffer.alloc(4_000_000, 'x'));
      });
      const { status, body } = await ask(server, { enoughBytes: 1000, maxBytes: 2_000_000 });
      expect([status, body.toString()]).to.equal([200, 'x'.repeat(1000)]);
      const less = await ask(server, { enoughBytes: 5_000_000 });
      expect(less.body.length).to.equal(4_000_000);
    });

    it('says with its failure what had come of a reply that breaks off', async () => {
      const server = await serving((_request, response) => {
        response.writeHead(503, { 'retry-after': '5', 'content-length': '100' });
        response.write('half', () => response.destroy());
      });
      const failure = await ask(server).catch((error: unknown) => error);
      if (!(failure instanceof HttpFailure)) throw failure;
      expect(failure.kind).to.equal('reset');
      expect(failure.begun).to.include({ status: 503, body: Buffer.from('half') });
      expect(failure.begun?.headers['retry-after']).to.equal('5');
      const nothing = await serving((_request, response) => void response.destroy());
      await expect(ask(nothing)).to.reject(HttpFailure);
      const none = await ask(nothing).catch((error: unknown) => error);
      expect(none).to.include({ kind: 'reset', begun: undefined });
    });
  });

  describe('fetchFor()', () => {
    const failing = async (
      server: Listening,
      limits: Partial<CallLimits> = {},
    ): Promise<unknown> => {
      const fetch = http.fetchFor(server.origin, limits);
      return fetch(server.origin)
        .then((response) => response.text())
        .then(
          () => 'no failure',
          (error: unknown) => error,
        );
    };

    it('sends and returns as fetch does', async () => {
      const server = await serving((_request, response) => {
        response.writeHead(201, { 'content-type': 'application/json' }).end('{"a":1}');
      });
      const response = await http.fetchFor(server.origin)(new URL('/v1/x?y', server.origin), {
        method: 'POST',
        headers: { Authorization: 'Bearer k', 'Content-Type': 'application/json' },
        body: '{"b":2}',
      });
      expect([response.status, response.ok]).to.equal([201, true]);
      expect(response.headers.get('content-type')).to.equal('application/json');
      expect(await response.json()).to.equal({ a: 1 });
      expect(server.got).to.equal([
        {
          method: 'POST',
          path: '/v1/x?y',
          headers: {
            host: server.entry,
            connection: 'keep-alive',
            'user-agent': 'adjutant',
            authorization: 'Bearer k',
            'content-type': 'application/json',
            'content-length': '7',
          },
          body: '{"b":2}',
        },
      ]);
    });

    it('takes a form, and a reply without a body', async () => {
      const server = await serving((_request, response) => void response.writeHead(204).end());
      const body = new FormData();
      body.set('name', 'value');
      const request = new Request(server.origin, { method: 'POST', body });
      const response = await http.fetchFor(server.origin)(request);
      expect([response.status, await response.text()]).to.equal([204, '']);
      expect(server.got[0]?.headers['content-type']).to.match(/^multipart\/form-data; boundary=/);
      expect(server.got[0]?.body).to.contain('name="name"\r\n\r\nvalue');
    });

    it('hands each piece on as it comes', async () => {
      const server = await serving((_request, response) => {
        response.write('data: 1\n\n');
        server.server.once('proceed', () => response.end('data: 2\n\n'));
      });
      const response = await http.fetchFor(server.origin)(server.origin);
      const pieces: string[] = [];
      for await (const piece of response.body ?? []) {
        pieces.push(Buffer.from(piece).toString());
        server.server.emit('proceed');
      }
      expect(pieces).to.equal(['data: 1\n\n', 'data: 2\n\n']);
    });

    it('goes to its own host and port and to what egressAllow names, nowhere else', async () => {
      const [own, named, other] = await Promise.all([serving(), serving(), serving()]);
      const narrow = createHttp({ allow: [named.entry], lookup: async () => ['127.0.0.1'] });
      const fetch = narrow.fetchFor(`${own.origin}/v1`);
      expect((await fetch(own.origin)).status).to.equal(200);
      expect((await fetch(named.origin)).status).to.equal(200);
      const elsewhere = ['https://example.com/', other.origin, `http://own.test:${own.port}/`];
      for (const url of elsewhere) await expect(fetch(url)).to.reject(EgressRefused);
      expect(other.sockets.length).to.equal(0);
      await narrow.close();
    });

    it('follows a redirect on its own host alone', async () => {
      const other = await serving();
      const own = await serving((request, response) => {
        const to = { '/mcp': '/mcp/', '/away': other.origin }[request.url ?? ''];
        if (to) response.writeHead(307, { location: to });
        response.end();
      });
      const fetch = http.fetchFor(own.origin);
      const post = { method: 'POST', body: 'x', headers: { 'x-key': 'k' } };
      expect((await fetch(`${own.origin}/mcp`, post)).status).to.equal(200);
      expect(own.got[1]).to.include({ path: '/mcp/', method: 'POST', body: 'x' });
      const error = await expect(fetch(`${own.origin}/away`, post)).to.reject(EgressRefused);
      expect(error).to.include({ effectBegan: true });
      expect(error.message).to.contain('egressAllow');
      expect(other.sockets.length).to.equal(0);
    });

    it('fails where the first token, or the next, does not come', async () => {
      const headOnly = await serving((_request, response) => response.flushHeaders());
      const oneToken = await serving((_request, response) => void response.write('data: 1\n\n'));
      const unbegun = failing(headOnly);
      await once(headOnly.server, 'request');
      clock.forward(120_000);
      expect(await unbegun).to.include({ kind: 'timeout' });
      const silent = failing(oneToken);
      await clock.waiting(60_000);
      clock.forward(60_000);
      expect(await silent).to.include({ kind: 'timeout' });
      await Promise.all([headOnly.emptied(), oneToken.emptied()]);
    });

    it('waits longer for the first token than for the next', async () => {
      const server = await serving((_request, response) => {
        response.flushHeaders();
        server.server.emit('began', response);
      });
      const answered = failing(server);
      const [response] = await once(server.server, 'began');
      clock.forward(119_999);
      response.end('data: 1\n\n');
      expect(await answered).to.equal('no failure');
    });

    it('fails where a body is too large', async () => {
      const server = await serving((_request, response) => void response.end(Buffer.alloc(1_000)));
      expect(await failing(server, { maxBytes: 999 })).to.include({ kind: 'too_large' });
    });

    const size = 8 * 1024 * 1024;

    it('lets a slow reader take its time', async () => {
      const server = await serving((_request, response) => void response.end(Buffer.alloc(size)));
      const response = await http.fetchFor(server.origin)(server.origin);
      await runLoopTurns();
      clock.forward(1_000_000);
      expect((await response.arrayBuffer()).byteLength).to.equal(size);
    });

    it('ends the connection of a reader that never reads', async () => {
      const server = await serving((_request, response) => void response.end(Buffer.alloc(size)));
      const response = await http.fetchFor(server.origin)(server.origin);
      clock.forward(1_800_000);
      await server.emptied();
      await expect(response.arrayBuffer()).to.reject(/took too long/);
    });

    it('ends the connection when the body is given up', async () => {
      const server = await serving((_request, response) => void response.write('data: 1\n\n'));
      const response = await http.fetchFor(server.origin)(server.origin);
      await response.body?.cancel();
      await server.emptied();
    });

    it('aborts as fetch does, waiting and reading', async () => {
      const silent = await serving(() => {});
      const waiting = new AbortController();
      silent.server.once('request', () => waiting.abort());
      const { signal } = waiting;
      const unanswered = http.fetchFor(silent.origin)(silent.origin, { signal });
      expect(await expect(unanswered).to.reject()).to.include({ name: 'AbortError' });

      const begun = await serving((_request, response) => void response.write('data: 1\n\n'));
      const reading = new AbortController();
      const request = new Request(begun.origin, { signal: reading.signal });
      const response = await http.fetchFor(begun.origin)(request);
      reading.abort();
      expect(await expect(response.text()).to.reject()).to.include({ name: 'AbortError' });
      await Promise.all([silent.emptied(), begun.emptied()]);
    });

    it('takes a status beyond the known classes for a failing server', async () => {
      const server = await serving((_request, response) => void response.writeHead(999).end());
      expect((await http.fetchFor(server.origin)(server.origin)).status).to.equal(599);
    });
  });
});
