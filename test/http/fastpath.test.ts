import { once } from 'node:events';
import { createServer } from 'node:http';
import { BlockList, connect, type Socket } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openFastPath } from '../../src/http/fastpath.js';
import { createBodies } from '../../src/kernel/body.js';
import { CustomReply, contract } from '../../src/kernel/contract/endpoint.js';
import { boolean, object } from '../../src/kernel/contract/schema.js';
import { createLog } from '../../src/kernel/log.js';
import { type Reply, sign, until } from '../harness/app.js';
import { frozenClock } from '../harness/clock.js';
import { type Desk, onPath, openDesk, SECRET } from '../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const JSON_TYPE = { 'content-type': 'application/json' };
/** All that may differ between two replies to the same. */
const CHANGING = ['x-request-id', 'date', 'content-length'];

describe('the fast path of the receivers', () => {
  let desk: Desk;
  /** What hapi answered. */
  let hapis = 0;

  before(async () => {
    desk = await openDesk();
    desk.test.app.server.events.on('response', () => {
      hapis++;
    });
  });
  after(() => desk.test.stop());

  /** The reply, and whether hapi made it. */
  const send = async (
    path: string,
    body: string | Buffer,
    headers: Record<string, string> = {},
  ) => {
    const before = hapis;
    const signature = { 'x-hub-signature-256': sign(SECRET, body) };
    const request = { body, headers: { ...signature, ...headers } };
    const reply = await desk.test.call('POST', path, request);
    return { reply, byHapi: hapis > before };
  };

  const alike = ({ status, headers, body }: Reply) => ({
    status,
    headers: Object.fromEntries(
      Object.entries(headers).filter(([name]) => !CHANGING.includes(name)),
    ),
    body: JSON.parse(JSON.stringify(body).replace(/_[0-9a-z]{26}"/g, '_…"')),
  });

  it('answers as hapi does', async () => {
    await desk.hook(onPath('alike'));
    const off = await desk.hook(onPath('alike-off'));
    await desk.ask('POST', `/api/hooks/${off}/disable`);
    const cases: [number, string, string, Record<string, string>][] = [
      [202, '/api/webhooks/alike', '{"n":1}', {}],
      [200, '/api/webhooks/alike-off', '{}', {}],
      [400, '/api/webhooks/alike', '{', {}],
      [401, '/api/webhooks/alike', '{}', { 'x-hub-signature-256': 'sha256=00' }],
      [404, '/api/webhooks/alike-none', '{}', {}],
      [401, `/api/hooks/incoming/${off}`, '{}', {}],
      [200, `/api/hooks/incoming/${off}`, '{}', { 'x-webhook-secret': SECRET }],
      [404, '/api/hooks/incoming/hook_none', '{}', {}],
    ];
    for (const [status, path, body, headers] of cases) {
      const short = await send(path, body, headers);
      const long = await send(`${path}/`, body, headers);
      expect([short.byHapi, long.byHapi, short.reply.status]).to.equal([false, true, status]);
      expect(alike(short.reply)).to.equal(alike(long.reply));
    }
  });

  it('knows a repeat whichever way it comes', async () => {
    const id = await desk.hook(onPath('repeat'));
    const headers = { 'x-github-delivery': 'the same' };
    const first = await send('/api/webhooks/repeat', '{"n":1}', headers);
    const second = await send('/api/webhooks/repeat/', '{"n":1}', headers);
    const third = await send('/api/webhooks/repeat', '{"n":1}', headers);
    const { deliveryId } = first.reply.body;
    expect([second.reply.body, third.reply.body]).to.equal([
      { received: true, duplicate: true, deliveryId },
      { received: true, duplicate: true, deliveryId },
    ]);
    expect(await desk.ended(id)).to.have.length(1);
  });

  it('leaves to hapi what is not plain', async () => {
    const path = '/api/webhooks/plain';
    await desk.hook(onPath('plain'));
    const cases: [string, Record<string, string>, number][] = [
      [path, {}, 202],
      [`${path}?a=1`, {}, 202],
      [`${path}/`, {}, 202],
      ['/api/webhooks/pl%61in', {}, 202],
      [path, { origin: 'https://example.org' }, 202],
      [path, { 'content-type': 'text/plain' }, 415],
      [path, { 'content-type': 'application/vnd.some+json' }, 202],
    ];
    const ways: [number, boolean][] = [];
    for (const [path, headers] of cases) {
      const { reply, byHapi } = await send(path, '{}', headers);
      ways.push([reply.status, byHapi]);
    }
    expect(ways).to.equal(cases.map(([, , status], n) => [status, n > 0]));
    const huge = await send(path, Buffer.alloc(4 * 1024 * 1024 + 1, ' '));
    expect([huge.reply.status, huge.byHapi]).to.equal([413, true]);
    const before = hapis;
    await desk.test.call('GET', path);
    expect(hapis).to.equal(before + 1);
  });

  it('gives a sane request id back, and counts', async () => {
    const counted = async () => {
      const { text } = await desk.ask('GET', '/metrics');
      return Number(/requests_total\{method="post",status="404"\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    const before = await counted();
    const sane = await send('/api/webhooks/nobody', '{}', { 'x-request-id': 'mine-1' });
    const odd = await send('/api/webhooks/nobody', '{}', { 'x-request-id': 'mine 1' });
    expect([sane.byHapi, odd.byHapi]).to.equal([false, false]);
    expect([sane.reply.headers['x-request-id'], sane.reply.body.requestId]).to.equal([
      'mine-1',
      'mine-1',
    ]);
    expect(odd.reply.headers['x-request-id']).to.match(/^request_[0-9a-z]{26}$/);
    expect(await counted()).to.equal(before + 2);
  });

  it('answers what was begun when the daemon stops, and closes the connection', async () => {
    const own = await openDesk();
    await own.hook(onPath('last'));
    const body = '{"n":"last"}';
    const socket = await open(own.test.url);
    const heard = once(socket.setEncoding('utf8'), 'data');
    socket.write(
      `POST /api/webhooks/last HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n` +
        `x-hub-signature-256: ${sign(SECRET, body)}\r\n\r\n${body.slice(0, 3)}`,
    );
    await own.test.call('GET', '/health/live');
    const stopped = own.test.stop();
    await until(
      async () => own.test.app.server.listener.listening,
      (isListening) => !isListening,
    );
    socket.write(body.slice(3));
    expect((await heard).join()).to.match(/^HTTP\/1\.1 202 [\s\S]*\r\nconnection: close\r\n/i);
    await stopped;
  });
});

const open = async (url: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
};

describe('a reply of the fast path that goes wrong', () => {
  const door = contract({
    byPath: {
      method: 'POST',
      path: '/door/{path}',
      summary: 'Answer',
      access: 'public',
      rawBytes: 10,
      reply: object('Sent', { received: boolean() }),
    },
  });

  /** What a client gets of a handler's answer, by a server without hapi; it has to close as well. */
  const answered = async (answer: unknown): Promise<number> => {
    const listener = createServer();
    const fastPath = openFastPath(
      listener,
      { name: 'receivers', contract: door, handlers: { byPath: async () => answer } },
      {
        log: createLog('silent'),
        clock: frozenClock(0),
        trust: () => ({ proxies: new BlockList(), tunnel: null }),
        proxies: { see: () => undefined },
        mintRequestId: () => 'request_1',
        replied: () => undefined,
        bodies: createBodies(100),
        headers: {},
        checkedReplies: 0,
        translate: () => null,
      },
    );
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    const address = listener.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const url = `http://127.0.0.1:${port}/door/x`;
    try {
      return (await fetch(url, { method: 'POST', body: '{}', headers: JSON_TYPE })).status;
    } finally {
      await fastPath.drain();
      listener.close();
    }
  };

  it('is an error where it cannot be written down', async () => {
    expect(await answered({ received: true })).to.equal(200);
    expect(await answered({ received: 1n })).to.equal(500);
  });

  it('ends the connection where it cannot be sent, and nothing else', async () => {
    await expect(answered(new CustomReply(200, {}, { 'x-broken': 'a\nb' }))).to.reject(
      'fetch failed',
    );
  });
});
