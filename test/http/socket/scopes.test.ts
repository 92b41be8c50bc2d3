import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { build, Client, type House } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const LACKED = 'The token lacks the scope agents:read';

describe('a personal access token on /ws', () => {
  let house: House;
  before(async () => {
    house = await build({
      channels: { 'agent.status': 'agents:read', 'hook.execution': 'hooks:read' },
    });
  });
  after(() => house.server.stop());

  const connect = (...scopes: string[]) => Client.connect(house.url, tokenWith(...scopes));
  const tokenWith = (...scopes: string[]) => {
    const token = house.door.sign('user_1');
    house.door.narrow(token, scopes);
    return token;
  };
  const hello = { type: 'hello', id: 1, version: '2' };
  const refused = (path: string) => ({
    statusCode: 403,
    payload: { error: 'Forbidden', message: LACKED },
    path,
  });

  it('hears the channels of its scopes alone', async () => {
    const client = await connect('hooks:read');
    const channels = ['agent.status', 'hook.execution'];
    expect(await client.ask({ type: 'subscribe', channels })).to.equal({
      type: 'subscribed',
      channels: ['hook.execution'],
      errors: [{ channel: 'agent.status', status: 403, message: LACKED }],
    });
    house.sockets.publish('user_1', 'agent.status', { id: 1 });
    house.sockets.publish('user_1', 'hook.execution', { id: 2 });
    expect(await client.next()).to.equal({ type: 'hook.execution', data: { id: 2 } });
    client.ws.close();
  });

  it('is refused the others in the words of nes too, and hears nothing of them', async () => {
    const client = await connect('hooks:read');
    const subs = ['/hook.execution', '/agent.status'];
    expect(await client.ask({ ...hello, subs })).to.equal({
      type: 'hello',
      id: 1,
      ...refused('/agent.status'),
    });
    await client.ask({ ...hello, subs: ['/hook.execution'] });
    expect(await client.ask({ type: 'sub', id: 2, path: '/agent.status' })).to.equal({
      type: 'sub',
      id: 2,
      ...refused('/agent.status'),
    });
    house.sockets.publish('user_1', 'agent.status', { id: 1 });
    house.sockets.publish('user_1', 'hook.execution', { id: 2 });
    expect(await client.next()).to.equal({
      type: 'pub',
      path: '/hook.execution',
      message: { id: 2 },
    });
    client.ws.close();
  });

  it('sends messages with chat:write alone', async () => {
    const [silent, talking] = [await connect('hooks:read'), await connect('chat:write')];
    const message = { type: 'message', content: 'Hello' };
    expect(await silent.ask(message)).to.equal({
      type: 'error',
      status: 403,
      message: 'The token lacks the scope chat:write',
    });
    expect(await talking.ask(message)).to.equal({
      type: 'message',
      data: { sessionId: 'session_new', agentId: 'agent_1' },
    });
    for (const client of [silent, talking]) client.ws.close();
  });

  it('does not take over a socket that hears more than it may', async () => {
    const client = await Client.connect(house.url, house.door.sign('user_1'));
    await client.ask({ ...hello, subs: ['/agent.status'] });
    const renew = (token: string) => {
      const auth = { headers: { authorization: `Bearer ${token}` } };
      return client.ask({ type: 'reauth', id: 2, auth });
    };
    expect(await renew(tokenWith('hooks:read'))).to.equal({
      type: 'reauth',
      id: 2,
      statusCode: 403,
      payload: {
        error: 'Forbidden',
        message:
          'The scopes of the token differ from the scopes of this socket. Open a new socket with the token',
      },
    });
    house.sockets.endSession('session_of_user_1');
    expect((await client.closed).code).to.equal(4401);
  });

  it('takes over a socket of the same scopes', async () => {
    const client = await connect('hooks:read');
    await client.ask({ ...hello, subs: ['/hook.execution'] });
    const auth = { headers: { authorization: `Bearer ${tokenWith('hooks:read')}` } };
    expect(await client.ask({ type: 'reauth', id: 2, auth })).to.equal({ type: 'reauth', id: 2 });
    client.ws.close();
  });
});
