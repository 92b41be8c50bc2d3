import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { HttpFailure } from '../../src/kernel/failure.js';
import { createHttp, type Http, type Outgoing } from '../../src/kernel/http.js';
import { type FrozenClock, frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';
import { type Listening, listen, listenTcp } from './listen.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const LIMITS = { firstByteMs: 10_000, silenceMs: 20_000, totalMs: 60_000 };

describe('exchange', () => {
  let clock: FrozenClock;
  let http: Http;
  let servers: Listening[];

  beforeEach(() => {
    clock = frozenClock();
    http = createHttp({ allow: ['127.0.0.1'], clock });
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
  const servingRaw = async (text: string): Promise<Listening> => {
    const server = await listenTcp((socket) => socket.once('data', () => socket.end(text)));
    servers.push(server);
    return server;
  };
  const failing = async (server: Listening, more: Partial<Outgoing> = {}): Promise<unknown> => {
    const out = { method: 'POST', url: server.origin, body: 'x', ...LIMITS, ...more };
    const error = await http.request(out).then(
      () => 'no failure',
      (failure: unknown) => failure,
    );
    expect(error).to.be.instanceof(HttpFailure);
    return error;
  };

  it('sends what it is given and returns what it gets', async () => {
    const server = await serving((_request, response) => {
      response.writeHead(418, { 'X-One': '1', 'Set-Cookie': ['a=b', 'c=d'], date: 'now' });
      response.end(Buffer.from([0, 255, 10]));
    });
    const reply = await http.request({
      method: 'put',
      url: `${server.origin}/a%20b?c=d#e`,
      headers: { 'Content-Type': 'application/json', 'X-Two': 'two' },
      body: '{"ä":1}',
    });
    expect(server.got).to.equal([
      {
        method: 'PUT',
        path: '/a%20b?c=d',
        headers: {
          host: server.entry,
          connection: 'keep-alive',
          'user-agent': 'adjutant',
          'content-type': 'application/json',
          'x-two': 'two',
          'content-length': '8',
        },
        body: '{"ä":1}',
      },
    ]);
    expect(reply).to.equal({
      status: 418,
      headers: {
        'x-one': '1',
        'set-cookie': 'a=b, c=d',
        date: 'now',
        connection: 'keep-alive',
        'keep-alive': 'timeout=5',
        'transfer-encoding': 'chunked',
      },
      body: Buffer.from([0, 255, 10]),
      url: `${server.origin}/a%20b?c=d#e`,
    });
  });

  it('sets the headers of the connection itself', async () => {
    const server = await serving();
    const headers = {
      Host: 'other.test',
      'Content-Length': '99',
      'Transfer-Encoding': 'chunked',
      Connection: 'upgrade',
      Upgrade: 'h2c',
      Expect: '100-continue',
      'Proxy-Authorization': 'Basic x',
      TE: 'trailers',
    };
    await http.request({ method: 'POST', url: server.origin, headers, body: 'four' });
    expect(server.got[0]?.headers).to.equal({
      host: server.entry,
      connection: 'keep-alive',
      'user-agent': 'adjutant',
      'content-length': '4',
    });
  });

  it('refuses a request that is no HTTP, before anything is sent', async () => {
    const server = await serving();
    const odd: Partial<Outgoing>[] = [
      { headers: { 'X-A': 'a\r\nX-B: b' } },
      { headers: { 'X A': 'a' } },
      { method: 'GET /' },
      { method: 'CONNECT' },
    ];
    for (const one of odd)
      expect(await failing(server, one)).to.include({
        kind: 'invalid_request',
        effectBegan: false,
      });
    expect(server.got).to.equal([]);
  });

  it('leaves a compressed body as it is', async () => {
    const zipped = gzipSync(Buffer.alloc(1_000_000));
    const server = await serving((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped);
    });
    const reply = await http.request({ method: 'GET', url: server.origin, maxBytes: 10_000 });
    expect(server.got[0]?.headers).to.not.include('accept-encoding');
    expect(reply.body.equals(zipped)).to.be.true();
  });

  /** The failure of a request whose server has answered all that it will when `isMute` resolves. */
  const timingOut = async (server: Listening, isMute: Promise<unknown>, ms: number) => {
    const failure = failing(server);
    await isMute;
    clock.forward(ms - 1);
    await runLoopTurns();
    expect(server.sockets.map(({ closed }) => closed)).to.equal([false]);
    clock.forward(1);
    const error = await failure;
    await server.emptied();
    expect(clock.pending()).to.equal([]);
    return error;
  };

  it('ends with timeout where no reply comes', async () => {
    const server = await serving(() => {});
    const error = await timingOut(server, once(server.server, 'request'), 10_000);
    expect(error).to.include({ kind: 'timeout', effectBegan: true, host: '127.0.0.1' });
  });

  it('ends with timeout where a body does not begin', async () => {
    const server = await serving((_request, response) => {
      response.flushHeaders();
      server.server.emit('began');
    });
    const error = await timingOut(server, once(server.server, 'began'), 10_000);
    expect(error).to.include({ kind: 'timeout' });
  });

  it('ends with timeout where a body falls silent', async () => {
    const server = await serving((_request, response) => void response.write('some'));
    const error = await timingOut(server, clock.waiting(20_000), 20_000);
    expect(error).to.include({ kind: 'timeout', effectBegan: true });
  });

  it('ends with timeout where a body trickles for too long', async () => {
    let write = (): unknown => undefined;
    const server = await serving((_request, response) => {
      write = () => response.write('.');
      write();
    });
    const failure = failing(server);
    for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 15_000) {
      await clock.waiting(20_000);
      clock.forward(15_000);
      write();
    }
    expect(await failure).to.include({ kind: 'timeout', effectBegan: true });
    await server.emptied();
  });

  it('ends with timeout where only interim replies come', async () => {
    const interim = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(10);
    const server = await listenTcp((socket) =>
      socket.once('data', () => socket.write(interim, () => server.server.emit('began'))),
    );
    servers.push(server);
    const error = await timingOut(server, once(server.server, 'began'), 10_000);
    expect(error).to.include({ kind: 'timeout' });
  });

  it('ends with too_large one byte over the limit', async () => {
    const server = await serving((_request, response) => void response.end(Buffer.alloc(1_000)));
    const url = server.origin;
    const reply = await http.request({ method: 'GET', url, maxBytes: 1_000 });
    expect(reply.body.length).to.equal(1_000);
    const error = await failing(server, { maxBytes: 999 });
    expect(error).to.include({ kind: 'too_large', effectBegan: true });
  });

  it('ends with too_large on a body without end', async () => {
    const server = await serving((_request, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', more);
      more();
    });
    expect(await failing(server)).to.include({ kind: 'too_large' });
    await server.emptied();
  });

  it('ends with too_large on headers without end', async () => {
    const lines = Array.from({ length: 300 }, (_, n) => `X-${n}: ${'v'.repeat(100)}`);
    const server = await servingRaw(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`);
    expect(await failing(server)).to.include({ kind: 'too_large', effectBegan: true });
  });

  it('ends with bad_response on what is not HTTP', async () => {
    const server = await servingRaw('220 mail.test ESMTP\r\n');
    expect(await failing(server)).to.include({ kind: 'bad_response', effectBegan: true });
  });

  it('ends with reset where the connection breaks off', async () => {
    const atOnce = await servingRaw('');
    expect(await failing(atOnce)).to.include({ kind: 'reset', effectBegan: true });
    const midway = await servingRaw('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour');
    expect(await failing(midway)).to.include({ kind: 'reset', effectBegan: true });
  });

  it('ends with aborted on the signal, at every stage', async () => {
    const silent = await serving(() => {});
    const waiting = new AbortController();
    silent.server.once('request', () => waiting.abort());
    const error = await failing(silent, { signal: waiting.signal });
    expect(error).to.include({ kind: 'aborted', effectBegan: true, name: 'AbortError' });

    const reading = new AbortController();
    const slow = await serving(
      (_request, response) => void response.write('some', () => reading.abort()),
    );
    expect(await failing(slow, { signal: reading.signal })).to.include({ kind: 'aborted' });

    const before = await failing(silent, { signal: AbortSignal.abort() });
    expect(before).to.include({ kind: 'aborted', effectBegan: false });
    await Promise.all([silent.emptied(), slow.emptied()]);
  });

  it('ends with timeout on a signal that is one', async () => {
    const server = await serving(() => {});
    const failure = failing(server, { signal: clock.deadline(1000) });
    await once(server.server, 'request');
    clock.forward(1000);
    expect(await failure).to.include({ kind: 'timeout', effectBegan: true });
  });

  it('ends with aborted where the client is closed', async () => {
    const server = await serving(() => {});
    const failure = failing(server);
    await once(server.server, 'request');
    await http.close();
    expect(await failure).to.include({ kind: 'aborted', effectBegan: true });
    expect(await failing(server)).to.include({ kind: 'aborted', effectBegan: false });
    await server.emptied();
  });

  it('uses a connection again and leaves none behind', async () => {
    const server = await serving();
    const out = { method: 'GET', url: server.origin };
    for (let n = 0; n < 20; n++) await http.request(out);
    expect(server.sockets.length).to.be.below(5);
    await http.close();
    await server.emptied();
  });
});
