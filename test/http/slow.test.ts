import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SOCKETS = 200;
const LIMIT_MS = 20_000;

/** What a slow client has sent before it goes on byte by byte. */
const BEGINNINGS = [
  'GET /health HTTP/1.1\r\nhost: x\r\nx-slow: ',
  'POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500000\r\n\r\n{"',
  'POST /api/webhooks/x HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500000\r\n\r\n{"',
  'POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500000\r\n\r\n{"',
];

describe('slow clients', () => {
  let app: TestApp;

  before(async () => {
    app = await startApp();
  });

  after(() => app.stop());

  it('are cut off within twenty seconds and harm nobody', { timeout: 30_000 }, async () => {
    const since = performance.now();
    const all = Array.from({ length: SOCKETS }, (_, n) =>
      trickle(app.url, BEGINNINGS[n % BEGINNINGS.length] ?? ''),
    );
    const times: number[] = [];
    const closed = Promise.all(all).then(() => 'closed');
    while ((await Promise.race([closed, app.call('GET', '/health')])) !== 'closed') {
      const begun = performance.now();
      await app.call('GET', '/health');
      times.push(performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(performance.now() - since).to.be.below(LIMIT_MS);
    times.sort((a, b) => a - b);
    expect(times[Math.floor(times.length * 0.99)] ?? 0).to.be.below(100);
  });
});

/** Sends a byte each second until the other side has had enough. */
const trickle = async (url: string, beginning: string): Promise<void> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.write(beginning);
  const timer = setInterval(() => socket.write('a'), 1000);
  await once(socket, 'close');
  clearInterval(timer);
};
