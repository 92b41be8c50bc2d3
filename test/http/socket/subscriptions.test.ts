import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Audience } from '../../../src/http/socket/subscriptions.js';
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

describe('the translation of a publication', () => {
  it('is made once for all sockets of the user', () => {
    const audience = new Audience(async () => {});
    const made: string[] = [];
    const translation = (text: string) => {
      made.push(text);
      return text.toUpperCase();
    };
    const said = ['a', 'a', 'a', 'b', 'b'].map((text) => audience.translate(text, translation));
    expect(said).to.equal(['A', 'A', 'A', 'B', 'B']);
    expect(made).to.equal(['a', 'b']);
  });
});
