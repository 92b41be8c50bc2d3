import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { build, Client, type House, until } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Two heartbeats take most of lab's usual two seconds. */
const timeouts = { timeout: 20_000 };

describe('a socket within its limits', () => {
  let house: House;
  const connect = () => Client.connect(house.url, house.door.sign('user_1'));
  before(async () => {
    house = await build({ limits: { framesPerSecond: 1, frameBurst: 40 } });
  });
  after(() => house.server.stop());

  it('is closed with 4429 for too many frames', async () => {
    const client = await connect();
    for (let n = 0; n < 60; n++) client.send('{"type":"zz"}');
    expect(await client.closed).to.equal({ code: 4429, reason: 'Too many frames' });
  });

  it('is closed with 4429 for too many bytes in few frames', async () => {
    const client = await connect();
    const big = JSON.stringify({ type: 'message', content: '', more: 'x'.repeat(200_000) });
    expect(await client.ask(big)).to.include({ status: 400 });
    client.send(big);
    expect((await client.closed).code).to.equal(4429);
  });

  it('is closed with 4429 for too many pings', async () => {
    const client = await connect();
    for (let n = 0; n < 60; n++) client.ws.ping();
    expect((await client.closed).code).to.equal(4429);
  });

  it('is closed with 1003 for a binary frame, and what follows is not read', async () => {
    const client = await connect();
    client.ws.send(Buffer.from('x'));
    client.send({ type: 'message', content: 'too late' });
    expect(await client.closed).to.equal({ code: 1003, reason: 'Only text frames are supported' });
    expect(house.door.messages).to.be.empty();
  });

  it('is closed with 1009 for a frame that is too long', async () => {
    const client = await connect();
    client.send(JSON.stringify({ type: 'message', content: 'x'.repeat(300_000) }));
    expect((await client.closed).code).to.equal(1009);
  });
});

describe('the allowance of frames', () => {
  it('grows back as time goes by', timeouts, async () => {
    const limits = { framesPerSecond: 1000, frameBurst: 10, heartbeatMs: 400 };
    const house = await build({ limits });
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    for (let n = 0; n < 4; n++) {
      for (let k = 0; k < 9; k++) await client.ask('{"type":"zz"}');
      // Between two pings the shared timer goes round once: by then the allowance is whole.
      await once(client.ws, 'ping');
    }
    expect(client.ws.readyState).to.equal(client.ws.OPEN);
    await house.server.stop();
  });
});

describe('a reader that stalls', () => {
  it('is cut off at its backlog, and the others miss nothing', timeouts, async () => {
    const house = await build();
    const token = house.door.sign('user_1');
    const clients = await Promise.all(
      Array.from({ length: 6 }, () => Client.listening(house.url, token, 'agent.message')),
    );
    const [stalled, ...readers] = clients;
    stalled?.ws.pause();
    const text = 'x'.repeat(64 * 1024);
    for (let id = 1; id <= 400; id++)
      house.sockets.publish('user_1', 'agent.message', { id, text });
    for (const reader of readers) {
      for (let id = 1; id <= 400; id++) {
        expect((await reader.next()).data).to.equal({ id, text });
      }
    }
    await until(() => house.sockets.stats().open === 5);
    expect(house.sockets.stats()).to.equal({ open: 5, users: 1, slow: 1 });
    const [line] = house.lines.filter(([event]) => event === 'ws.slow');
    expect(Number(line?.[1].backlogBytes)).to.be.between(1024 * 1024, 1024 * 1024 + 200_000);
    await house.server.stop();
  });

  it('is cut off though it goes on writing', timeouts, async () => {
    const house = await build({ limits: { heartbeatMs: 800 } });
    const client = await Client.connect(house.url, house.door.sign('user_1'), { autoPong: false });
    const writing = setInterval(() => client.send('{"type":"zz"}'), 50);
    expect((await client.closed).code).to.equal(1006);
    clearInterval(writing);
    await house.server.stop();
  });
});

describe('the heartbeat', () => {
  it(
    'keeps those who answer it, in either dialect or still silent, and drops who does not',
    timeouts,
    async () => {
      // Long enough that a busy machine is not taken for a client that does not answer.
      const house = await build({ limits: { heartbeatMs: 2500 } });
      const token = house.door.sign('user_1');
      const silent = await Client.connect(house.url, token);
      const plain = await Client.listening(house.url, token, 'agent.status');
      const nes = await Client.connect(house.url, token);
      await nes.ask({ type: 'hello', id: 1, version: '2', subs: ['/agent.status'] });
      nes.ws.on('message', (data) => {
        if (data.toString() === '{"type":"ping"}') nes.send({ type: 'ping', id: 2 });
      });
      const deaf = await Client.connect(house.url, token);
      await deaf.ask({ type: 'hello', id: 1, version: '2' });
      const dead = await Client.connect(house.url, token, { autoPong: false });
      const pinged = once(silent.ws, 'ping');
      expect((await dead.closed).code).to.equal(1006);
      expect((await deaf.closed).code).to.equal(1006);
      await pinged;
      await once(plain.ws, 'ping');
      expect(house.sockets.stats()).to.equal({ open: 3, users: 1, slow: 2 });
      await house.server.stop();
    },
  );
});
