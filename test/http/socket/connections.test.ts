import * as Net from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { build, Client, type House, knock, until } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the sockets of a user', () => {
  let house: House;
  before(async () => {
    house = await build({ limits: { heartbeatMs: 1600 } });
  });
  after(() => house.server.stop());

  it('close at once with their session, and no others', async () => {
    const [one, two] = ['session_1', 'session_2'].map((id) => house.door.sign('user_1', id));
    const silent = await Client.connect(house.url, one ?? '');
    const client = await Client.listening(house.url, one ?? '', 'agent.status');
    const other = await Client.listening(house.url, two ?? '', 'agent.status');
    house.sockets.endSession('session_1');
    const ended = { code: 4401, reason: 'The session has ended' };
    expect(await Promise.all([silent.closed, client.closed])).to.equal([ended, ended]);
    house.sockets.publish('user_1', 'agent.status', { id: 1 });
    expect(await other.next()).to.equal({ type: 'agent.status', data: { id: 1 } });
    other.ws.close();
    await other.closed;
  });

  it('close at once with the account', async () => {
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    const other = await Client.connect(house.url, house.door.sign('user_2'));
    house.sockets.endUser('user_1');
    expect(await client.closed).to.equal({ code: 4401, reason: 'The account is closed' });
    await until(() => house.sockets.stats().open === 1);
    other.ws.close();
    await other.closed;
  });

  it('are gone even where the client does not answer the close', async () => {
    const client = await Client.listening(house.url, house.door.sign('user_1'), 'agent.status');
    client.ws.pause();
    house.sockets.endUser('user_1');
    house.sockets.publish('user_1', 'agent.status', { id: 1 });
    await until(() => house.sockets.stats().open === 0);
    client.ws.resume();
    expect((await client.closed).code).to.equal(4401);
  });

  it('close when the token ends', async () => {
    const client = await Client.connect(house.url, house.door.sign('user_1', 'session_1', 5_000));
    const longer = await Client.connect(house.url, house.door.sign('user_1', 'session_1', 9_000));
    house.clock.ms += 5_000;
    expect(await client.closed).to.equal({ code: 4401, reason: 'The token has expired' });
    house.clock.ms += 4_000;
    expect((await longer.closed).code).to.equal(4401);
  });

  it('are closed with 4408 where more is published than can leave', async () => {
    const small = await build({ limits: { maxWaiting: 10 } });
    const client = await Client.listening(small.url, small.door.sign('user_1'), 'agent.status');
    for (let id = 0; id < 12; id++) small.sockets.publish('user_1', 'agent.status', { id });
    expect((await client.closed).code).to.equal(4408);
    expect(small.lines.map(([event]) => event)).to.include('ws.flooded');
    await small.server.stop();
  });
});

describe('a clean stop', () => {
  it('closes every socket with 1001 and admits nobody more', async () => {
    const house = await build();
    const token = house.door.sign('user_1');
    const clients = await Promise.all([
      Client.connect(house.url, token),
      Client.listening(house.url, token, 'agent.status'),
    ]);
    const nes = await Client.connect(house.url, token);
    await nes.ask({ type: 'hello', id: 1, version: '2' });
    const closing = house.sockets.close();
    expect((await knock(`${house.url}?token=${token}`))?.status).to.equal(503);
    const away = { code: 1001, reason: 'The server is stopping' };
    for (const client of [...clients, nes]) expect(await client.closed).to.equal(away);
    await closing;
    expect(house.sockets.stats()).to.equal({ open: 0, users: 0, slow: 0 });
    await house.server.stop();
  });

  it('comes with the stop of the server, and does not wait for a client that hangs', async () => {
    const house = await build({ limits: { closeMs: 50 } });
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    client.ws.pause();
    await house.server.stop();
    client.ws.resume();
    expect((await client.closed).code).to.equal(1001);
    const gone = new Promise((resolve) => {
      Net.connect(Number(new URL(house.url).port), '127.0.0.1').on('error', resolve);
    });
    expect(await gone).to.be.an.error();
  });
});
