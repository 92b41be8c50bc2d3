import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { textFrame } from '../../../src/http/socket/textframe.js';
import { build, Client, type House } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('what is published to a user', () => {
  let house: House;
  before(async () => {
    house = await build();
  });
  after(() => house.server.stop());

  it('arrives in order at every socket while others come and go', async () => {
    const token = house.door.sign('user_1');
    const connect = () => Client.listening(house.url, token, 'agent.status');
    const publish = (from: number, to: number) => {
      for (let id = from; id <= to; id++) house.sockets.publish('user_1', 'agent.status', { id });
    };
    const outbound = await connect();
    const [first, second] = await Promise.all([connect(), connect()]);
    publish(1, 400);
    outbound.ws.terminate();
    while (house.sockets.stats().open === 3) await nextTurn();
    // Most of the first are still on their way to the socket that is gone.
    publish(401, 500);
    const later = await connect();
    for (const client of [first, second]) {
      for (let id = 1; id <= 500; id++) {
        expect(await client.next()).to.equal({ type: 'agent.status', data: { id } });
      }
    }
    publish(501, 501);
    expect(await first.next()).to.equal({ type: 'agent.status', data: { id: 501 } });
    later.ws.terminate();
  });

  it('is dropped without a sound where nobody listens', async () => {
    house.sockets.publish('user_nobody', 'agent.status', { id: 1 });
    house.sockets.publish('user_nobody', 'no.channel', { id: 1 });
    expect(house.lines.map(([event]) => event)).to.not.include('ws.unpublished');
  });

  it('never throws, whatever it is', async () => {
    const client = await Client.listening(house.url, house.door.sign('user_2'), 'agent.status');
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const data of [circle, 1n, undefined, () => {}, Symbol('x')]) {
      house.sockets.publish('user_2', 'agent.status', data);
    }
    house.sockets.publish('user_2', 'no.channel', { id: 1 });
    house.sockets.publish('user_2', 'agent.status', { id: 2 });
    let frame = await client.next();
    while (frame.data === undefined) frame = await client.next();
    expect(frame).to.equal({ type: 'agent.status', data: { id: 2 } });
  });
});

describe('what passes', () => {
  let house: House;
  before(async () => {
    house = await build();
  });
  after(() => house.server.stop());

  it('is left out for a reader that is behind, who misses no event and is not cut off', async () => {
    const channels = ['agent.status', 'agent.message'] as const;
    const token = house.door.sign('user_1');
    const [stalled, reader] = await Promise.all([
      Client.listening(house.url, token, ...channels),
      Client.listening(house.url, token, ...channels),
    ]);
    stalled?.ws.pause();
    const text = 'x'.repeat(64 * 1024);
    for (let id = 1; id <= 200; id++) {
      house.sockets.publishPassing('user_1', 'agent.status', { id, text });
      expect((await reader.next()).data).to.equal({ id, text });
    }
    for (let id = 1; id <= 3; id++) house.sockets.publish('user_1', 'agent.message', { id });
    for (let id = 1; id <= 3; id++) expect((await reader.next()).data).to.equal({ id });
    stalled?.ws.resume();
    const heard: Record<string, unknown>[] = [];
    while (heard.length < 3) {
      const frame = await stalled.next();
      if (frame.type === 'agent.message') heard.push(frame);
    }
    expect(heard.map(({ data }) => data)).to.equal([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(house.sockets.stats().slow).to.equal(0);
  });

  it('takes no place of an event, and ends no socket', async () => {
    const client = await Client.listening(house.url, house.door.sign('user_2'), 'agent.status');
    for (let id = 1; id <= 20_000; id++) {
      house.sockets.publishPassing('user_2', 'agent.status', { id });
    }
    house.sockets.publish('user_2', 'agent.status', { id: 'event' });
    let passed = 0;
    let frame = await client.next();
    while (Object(frame.data).id !== 'event') {
      passed++;
      frame = await client.next();
    }
    expect(passed).to.equal(256);
  });

  it('has a number for each subscription, the newest of which is known', async () => {
    const newest = () => house.sockets.newestOf('user_3', 'agent.status');
    expect(newest()).to.equal(0);
    const other = await Client.listening(house.url, house.door.sign('user_4'), 'agent.status');
    const client = await Client.listening(house.url, house.door.sign('user_3'), 'agent.message');
    expect(newest()).to.equal(0);
    await client.ask({ type: 'subscribe', channels: ['agent.status'] });
    const first = newest();
    expect(first).to.be.above(0);
    const second = await Client.listening(house.url, house.door.sign('user_3'), 'agent.status');
    expect(newest()).to.be.above(first);
    await second.ask({ type: 'unsubscribe', channels: ['agent.status'] });
    expect(newest()).to.equal(first);
    await client.ask({ type: 'unsubscribe', channels: ['agent.status'] });
    expect(newest()).to.equal(0);
    other.ws.close();
  });
});

describe('a subscription', () => {
  it('is as the last frame says, however fast they come', async () => {
    const house = await build();
    const client = await Client.listening(house.url, house.door.sign('user_1'), 'agent.message');
    for (let round = 0; round < 10; round++) {
      for (const type of ['subscribe', 'unsubscribe']) {
        client.ws.send(JSON.stringify({ type, channels: ['agent.status'] }));
      }
      for (let replies = 0; replies < 2; replies++) await client.next();
      house.sockets.publish('user_1', 'agent.status', { id: 1 });
      house.sockets.publish('user_1', 'agent.message', { id: round });
      expect(await client.next()).to.equal({ type: 'agent.message', data: { id: round } });
    }
    await house.server.stop();
  });
});

describe('the frame of a publication', () => {
  it('has the head that its length takes (RFC 6455, 5.2)', () => {
    const heads: [number, string][] = [
      [0, '8100'],
      [125, '817d'],
      [126, '817e007e'],
      [65_535, '817effff'],
      [65_536, '817f0000000000010000'],
    ];
    for (const [length, head] of heads) {
      const text = 'x'.repeat(length);
      expect(textFrame(text).toString('latin1')).to.equal(
        Buffer.from(head, 'hex').toString('latin1') + text,
      );
    }
    expect(textFrame('é').toString('hex')).to.equal('8102c3a9');
  });

  it('of many in one turn arrives in order, between replies', async () => {
    const house = await build();
    const token = house.door.sign('user_1');
    const client = await Client.listening(house.url, token, 'agent.status');
    const data = (id: number) => ({ id, text: 'x'.repeat(5000) });
    for (let id = 1; id <= 300; id++) house.sockets.publish('user_1', 'agent.status', data(id));
    client.ws.send(JSON.stringify({ type: 'subscribe', channels: ['agent.status'], id: 'again' }));
    const ids: unknown[] = [];
    let replies = 0;
    while (ids.length < 300) {
      const frame = await client.next();
      if (frame.type === 'subscribed') replies++;
      else ids.push(Object(frame.data).id);
    }
    expect(ids).to.equal(Array.from({ length: 300 }, (_, n) => n + 1));
    if (replies === 0) expect((await client.next()).type).to.equal('subscribed');
    await house.server.stop();
  });
});
