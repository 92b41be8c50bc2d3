import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, until } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MiB = 1024 * 1024;

describe('bodies that nobody has verified', () => {
  const app = openForSuite(lab, startApp);
  const deliver = () => app.call('POST', '/api/webhooks/none', { body: { a: 1 } });

  it('refuses one over 4 MiB, announced or not', async () => {
    const path = '/api/webhooks/none';
    const announced = await app.call('POST', path, { body: Buffer.alloc(4 * MiB + 1, ' ') });
    expect(announced.status).to.equal(413);
    const stream = new Blob([Buffer.alloc(4 * MiB + 1, ' ')]).stream();
    const chunked = await fetch(app.url + path, { method: 'POST', body: stream, duplex: 'half' });
    expect(chunked.status).to.equal(413);
  });

  it('takes 64 MiB of them together, answers 503 beyond, and recovers', async () => {
    const sockets = await Promise.all(Array.from({ length: 16 }, () => upload(app.url, 4 * MiB)));
    const refused = await until(deliver, ({ status }) => status === 503);
    expect(refused.headers['retry-after']).to.equal('5');
    expect(refused.body.code).to.equal('bodies_full');
    expect((await app.call('GET', '/health/live')).status).to.equal(200);
    for (const socket of sockets) socket.destroy();
    await until(deliver, ({ status }) => status === 404);
  });

  it('counts what has come, not what was announced', async () => {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => upload(app.url, 10)));
    expect((await deliver()).status).to.equal(404);
    for (const socket of sockets) socket.destroy();
  });
});

/** Sends so much of a chunked body and then nothing more. */
const upload = async (url: string, bytes: number): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  socket.write('POST /api/webhooks/none HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n');
  socket.write(`transfer-encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n`);
  if (!socket.write(Buffer.alloc(bytes, ' '))) await once(socket, 'drain');
  return socket;
};
