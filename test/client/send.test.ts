import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/client.js';
import { send } from '../../src/client/send.js';
import { runLoopTurns } from '../harness/turns.js';
import { listen, listenTcp } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it } = lab;

const get = (url: string, signal = AbortSignal.timeout(10_000)) =>
  send(url, { method: 'GET', headers: {}, signal });
const asked = (url: string, timeoutMs = 10_000) =>
  createClient({ url, timeoutMs }).request({ method: 'GET', path: '/' });

describe('send', () => {
  it('sends what it is given and reads what comes', async () => {
    const server = await listen((_request, response) => {
      response.writeHead(201, { 'content-type': 'text/plain', 'x-request-id': 'r1' }).end('grün');
    });
    const body = 'größer';
    const headers = { 'content-type': 'text/plain', authorization: 'Bearer t' };
    const signal = AbortSignal.timeout(10_000);
    const url = `${server.origin}/a?b=c`;
    const answer = await send(url, { method: 'POST', headers, body, signal });
    expect([answer.ok, answer.status, answer.headers.get('x-request-id')]).to.equal([
      ...[true, 201, 'r1'],
    ]);
    expect(await answer.text()).to.equal('grün');
    const [got] = server.got;
    expect([got?.method, got?.path, got?.body, got?.headers.authorization]).to.equal([
      ...['POST', '/a?b=c', body, 'Bearer t'],
    ]);
    expect(got?.headers['content-length']).to.equal('8');
    await server.close();
  });

  it('says how long a body is, of a DELETE too, and of none nothing', async () => {
    const server = await listen((_request, response) => response.end());
    const signal = AbortSignal.timeout(10_000);
    for (const body of ['grün', Buffer.from('{}'), undefined]) {
      await send(server.origin, { method: 'DELETE', headers: {}, signal, ...(body && { body }) });
    }
    expect(server.got.map(({ body, headers }) => [body, headers['content-length']])).to.equal([
      ['grün', '5'],
      ['{}', '2'],
      ['', undefined],
    ]);
    await server.close();
  });

  it('follows no redirect', async () => {
    const server = await listen((_request, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const { ok, status } = await get(server.origin);
    expect([ok, status, server.got.length]).to.equal([false, 302, 1]);
    await server.close();
  });

  it('says why nothing came', async () => {
    const gone = await listen();
    await gone.close();
    await expect(asked(gone.origin)).to.reject(/connection refused$/);
    const cut = await listenTcp((socket) => socket.on('data', () => socket.destroy()));
    await expect(asked(cut.origin)).to.reject(/the connection was interrupted/);
    await cut.close();
  });

  it('says that an answer broke off in its middle', async () => {
    const half = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf';
    const server = await listenTcp((socket) =>
      socket.on('data', () => socket.write(half, () => socket.destroy())),
    );
    await expect(asked(server.origin)).to.reject(/the connection was interrupted/);
    await server.close();
  });

  it('ends with its time and with its signal, before the answer and within it', async () => {
    const mute = await listen(() => {});
    await expect(asked(mute.origin, 100)).to.reject(/no reply within 0\.1 s$/);
    const unheard: Error[] = [];
    const hear = (error: Error): void => void unheard.push(error);
    process.on('uncaughtExceptionMonitor', hear);
    await expect(get(mute.origin, AbortSignal.abort())).to.reject(TypeError);
    await runLoopTurns();
    process.off('uncaughtExceptionMonitor', hear);
    expect(unheard).to.equal([]);
    await mute.close();
    const slow = await listen((_request, response) => void response.writeHead(200).write('half'));
    await expect(asked(slow.origin, 100)).to.reject(/no reply within 0\.1 s$/);
    const end = new AbortController();
    const answer = await get(slow.origin, end.signal);
    end.abort();
    await expect(answer.text()).to.reject();
    await slow.close();
  });
});
