import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { quantile } from '../bench/load.js';
import { startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it } = lab;

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
  const app = openForSuite(lab, startApp);

  it('are cut off within twenty seconds and harm nobody', async () => {
    const ask = async (): Promise<number> => {
      const begun = performance.now();
      await app.call('GET', '/health');
      await new Promise((resolve) => setTimeout(resolve, 50));
      return performance.now() - begun - 50;
    };
    const calm: number[] = [];
    for (let n = 0; n < 40; n++) calm.push(await ask());
    const since = performance.now();
    const all = Array.from({ length: SOCKETS }, (_, n) =>
      trickle(app.url, BEGINNINGS[n % BEGINNINGS.length] ?? ''),
    );
    const times: number[] = [];
    let isOver = false;
    const closed = Promise.all(all).then(() => {
      isOver = true;
    });
    while (!isOver) times.push(await ask());
    await closed;
    expect(performance.now() - since).to.be.below(LIMIT_MS);
    // What else runs on the machine delays both.
    expect(p99Of(times)).to.be.below(Math.max(100, 5 * p99Of(calm)));
  });
});

const p99Of = (times: number[]): number =>
  quantile(
    [...times].sort((a, b) => a - b),
    0.99,
  );

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
