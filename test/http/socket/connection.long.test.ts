import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { SocketLimits } from '../../../src/http/socket/limits.js';
import { frozenClock } from '../../harness/clock.js';
import { build, Client, type House, until } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HEARTBEAT_MS = 15_000;

const buildFrozen = async (limits: Partial<SocketLimits> = {}) => {
  const clock = frozenClock(1_700_000_000_000);
  const house = await build({ clock, limits });
  return { house, token: house.door.sign('user_1'), beat: () => clock.forward(HEARTBEAT_MS) };
};

/** Resolves when the server has read all that the client sent before. */
const isRead = async ({ ws }: Client): Promise<void> => {
  const pong = once(ws, 'pong');
  ws.ping();
  await pong;
};

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
  it('grows back as time goes by', async () => {
    const { house, token, beat } = await buildFrozen({ framesPerSecond: 1, frameBurst: 10 });
    const client = await Client.connect(house.url, token);
    for (let n = 0; n < 4; n++) {
      for (let k = 0; k < 9; k++) await client.ask('{"type":"zz"}');
      const pinged = once(client.ws, 'ping');
      beat();
      await pinged;
    }
    expect(client.ws.readyState).to.equal(client.ws.OPEN);
    await house.server.stop();
  });
});

describe('a reader that stalls', () => {
  it('is cut off at its backlog, and the others miss nothing', async () => {
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

  it('is cut off though it goes on writing', async () => {
    const { house, token, beat } = await buildFrozen();
    const client = await Client.connect(house.url, token, { autoPong: false });
    beat();
    await client.ask('{"type":"zz"}');
    beat();
    expect((await client.closed).code).to.equal(1006);
    await house.server.stop();
  });
});

describe('the heartbeat', () => {
  it('keeps those who answer it, in either dialect or still silent, and drops who does not', async () => {
    const { house, token, beat } = await buildFrozen();
    const silent = await Client.connect(house.url, token);
    const plain = await Client.listening(house.url, token, 'agent.status');
    const nes = await Client.connect(house.url, token);
    await nes.ask({ type: 'hello', id: 1, version: '2', subs: ['/agent.status'] });
    nes.ws.on('message', (data) => {
      if (data.toString() !== '{"type":"ping"}') return;
      nes.send({ type: 'ping', id: 2 });
      nes.ws.emit('beaten');
    });
    const deaf = await Client.connect(house.url, token);
    await deaf.ask({ type: 'hello', id: 1, version: '2' });
    const dead = await Client.connect(house.url, token, { autoPong: false });
    const beaten = async () => {
      const pings = [once(silent.ws, 'ping'), once(plain.ws, 'ping'), once(nes.ws, 'beaten')];
      beat();
      await Promise.all(pings);
      await Promise.all([silent, plain, nes].map(isRead));
    };
    await beaten();
    expect(house.sockets.stats().open).to.equal(5);
    await beaten();
    expect((await dead.closed).code).to.equal(1006);
    expect((await deaf.closed).code).to.equal(1006);
    expect(house.sockets.stats()).to.equal({ open: 3, users: 1, slow: 2 });
    await house.server.stop();
  });
});
