import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Bridge } from '../../../src/http/socket/bridge.js';
import { frozenClock } from '../../harness/clock.js';
import { build, Client, until } from './harness.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the bridge to nes', () => {
  it('tells nes of the end only when nes has answered', async () => {
    const bridge = new Bridge(frozenClock(), () => {});
    const asked: string[] = [];
    const ended: string[] = [];
    bridge.on('message', (text) => asked.push(text));
    bridge.once('close', () => ended.push('close'));
    const answer = bridge.ask({ type: 'sub', path: '/agent.status' });
    bridge.leave();
    expect(ended).to.equal([]);
    expect(bridge.readyState).to.equal(1);
    const [text = ''] = asked;
    const { id } = JSON.parse(text);
    bridge.send(JSON.stringify({ type: 'sub', id }), () => {});
    expect(await answer).to.equal({ type: 'sub', id });
    expect(ended).to.equal(['close']);
    expect(bridge.readyState).to.equal(3);
    await expect(bridge.ask({ type: 'sub', path: '/agent.status' })).to.reject(
      'The socket is closed. Open a new socket',
    );
  });

  it('tells nes of the end after two seconds without an answer', () => {
    const clock = frozenClock();
    const bridge = new Bridge(clock, () => {});
    void bridge.ask({ type: 'sub', path: '/agent.status' });
    bridge.leave();
    clock.forward(1999);
    expect(bridge.readyState).to.equal(1);
    clock.forward(1);
    expect(bridge.readyState).to.equal(3);
  });

  it('leaves nothing behind of clients that vanish in the middle of a hello', async () => {
    const house = await build();
    const token = house.door.sign('user_1');
    for (let n = 0; n < 30; n++) {
      const client = await Client.connect(house.url, token);
      client.send({ type: 'subscribe', channels: ['agent.status', 'agent.message'] });
      const held = n % 2 === 0 ? house.door.hold(1) : undefined;
      await held?.arrived;
      client.ws.terminate();
      await until(() => house.sockets.stats().open === 0);
      held?.release();
    }
    await new Promise((resolve) => setImmediate(resolve));
    const left: string[] = [];
    const subscription = '/agent.status';
    house.server.eachSocket(({ id }) => left.push(id), { subscription, user: 'user_1' });
    house.server.eachSocket(({ id }) => left.push(id), { subscription });
    house.server.eachSocket(({ id }) => left.push(id));
    expect(left).to.equal([]);
    await house.server.stop();
  });
});
