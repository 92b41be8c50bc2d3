import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Client as NesClient } from '@hapi/nes';
import { build, Client, type House } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the client of nes on /ws', () => {
  let house: House;
  before(async () => {
    house = await build();
  });
  after(() => house.server.stop());

  const connect = async (token: string, at = house): Promise<NesClient> => {
    const client = new NesClient(`${at.url}?token=${token}`);
    client.onError = () => {};
    await client.connect({ delay: 10, maxDelay: 10 });
    return client;
  };
  /** Subscribes; the returned function resolves to the next event that was not asked for yet. */
  const listen = async (client: NesClient, path: string) => {
    const heard = new PassThrough({ objectMode: true });
    await client.subscribe(path, (event) => heard.write(event));
    return async () => {
      if (heard.readableLength === 0) await once(heard, 'readable');
      return heard.read();
    };
  };

  it('hears its own events, and those of nobody else', async () => {
    const client = await connect(house.door.sign('user_1'));
    const next = await listen(client, '/agent.status');
    house.sockets.publish('user_2', 'agent.status', { id: 1 });
    house.sockets.publish('user_1', 'agent.status', { id: 2 });
    expect(await next()).to.equal({ id: 2 });
    await client.unsubscribe('/agent.status');
    await client.disconnect();
  });

  it('sends chat messages', async () => {
    const client = await connect(house.door.sign('user_1'));
    expect(await client.message({ content: 'Hello' })).to.equal({
      payload: { sessionId: 'session_new', agentId: 'agent_1' },
    });
    await expect(client.message({ content: '' })).to.reject(
      '"message.content" is not allowed to be empty',
    );
    await expect(client.message({ content: 'refuse' })).to.reject('No session with that id');
    await client.disconnect();
  });

  it('reaches no route, and no channel that there is not', async () => {
    const client = await connect(house.door.sign('user_1'));
    await expect(client.request('/health')).to.reject(
      'HTTP requests over the WebSocket are not supported. Send the request to the HTTP API',
    );
    await expect(client.subscribe('/nope', () => {})).to.reject('Subscription not found');
    await client.disconnect();
  });

  it('comes back by itself with its subscriptions', async () => {
    const client = await connect(house.door.sign('user_again'));
    const next = await listen(client, '/agent.status');
    const back = new Promise<void>((resolve) => {
      client.onConnect = resolve;
    });
    house.cut();
    await back;
    house.sockets.publish('user_again', 'agent.status', { id: 3 });
    expect(await next()).to.equal({ id: 3 });
    await client.disconnect();
  });

  it('stays past the end of its token with a new one, and only with one of its own', async () => {
    const brief = await build({ limits: { heartbeatMs: 1600 } });
    const token = brief.door.sign('user_1', 'session_1', 1_000);
    const client = await connect(token, brief);
    const left = await connect(token, brief);
    const gone = new Promise((resolve) => {
      left.onDisconnect = (_willReconnect, { code, reason }) => resolve({ code, reason });
    });
    const renew = (given: string) =>
      client.reauthenticate({ headers: { authorization: `Bearer ${given}` } });
    const message = 'The token is invalid or belongs to another user';
    await expect(renew(brief.door.sign('user_2'))).to.reject(message);
    await expect(renew('zz')).to.reject(message);
    await renew(brief.door.sign('user_1', 'session_2'));
    brief.clock.ms += 2_000;
    expect(await gone).to.equal({ code: 4401, reason: 'The token has expired' });
    const next = await listen(client, '/agent.status');
    brief.sockets.publish('user_1', 'agent.status', { id: 1 });
    expect(await next()).to.equal({ id: 1 });
    await Promise.all([client.disconnect(), left.disconnect()]);
    await brief.server.stop();
  });

  it('is signed out where its new session ended while that was looked at', async () => {
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    await client.ask({ type: 'hello', id: 1, version: '2' });
    const next = house.door.sign('user_1', 'session_next');
    const { identify } = house.door;
    house.door.identify = async (token) => {
      const row = await identify.call(house.door, token);
      house.door.revoke('session_next');
      return row;
    };
    const auth = { headers: { authorization: `Bearer ${next}` } };
    client.send({ type: 'reauth', id: 2, auth });
    expect(await client.closed).to.equal({ code: 4401, reason: 'The session has ended' });
    house.door.identify = identify;
  });

  it('is told the heartbeat, and that a second hello is one too many', async () => {
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    const hello = { type: 'hello', id: 1, version: '2', subs: ['/agent.status'] };
    expect(await client.ask(hello)).to.include({
      type: 'hello',
      id: 1,
      heartbeat: { interval: 15_000, timeout: 5_000 },
    });
    expect(await client.ask({ ...hello, id: 2 })).to.equal({
      type: 'hello',
      id: 2,
      statusCode: 400,
      payload: { error: 'Bad Request', message: 'Connection already initialized' },
    });
  });

  it('is refused a hello with a channel that there is not', async () => {
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    expect(await client.ask({ type: 'hello', id: 1, version: '2', subs: ['/nope'] })).to.equal({
      type: 'hello',
      id: 1,
      statusCode: 404,
      payload: { error: 'Not Found', message: 'Subscription not found' },
      path: '/nope',
    });
  });

  it('sends no message before its hello', async () => {
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    await client.ask({ type: 'hello', id: 1, version: '1' });
    expect(await client.ask({ type: 'message', id: 2, message: { content: 'x' } })).to.equal({
      type: 'message',
      id: 2,
      statusCode: 401,
      payload: { error: 'Unauthorized', message: 'Send a hello frame first' },
    });
  });

  it('learns from the hello that its session has ended, and is closed', async () => {
    const token = house.door.sign('user_late', 'session_late');
    const client = await Client.connect(house.url, token);
    house.door.revoke('session_late');
    const answer = await client.ask({ type: 'hello', id: 1, version: '2' });
    expect(answer).to.include({ type: 'hello', id: 1, statusCode: 401 });
    expect((await client.closed).code).to.equal(4401);
  });
});
