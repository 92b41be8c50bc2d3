import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { build, Client, type House } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('a plain client of /ws', () => {
  let house: House;
  const connect = (userId: string) => Client.connect(house.url, house.door.sign(userId));
  before(async () => {
    house = await build();
  });
  after(() => house.server.stop());

  it('subscribes, is told, unsubscribes and is told no more', async () => {
    const client = await connect('user_1');
    expect(
      await client.ask({ type: 'subscribe', channels: ['agent.status', 'agent.message'], id: 7 }),
    ).to.equal({ type: 'subscribed', channels: ['agent.status', 'agent.message'], id: 7 });
    const event = { id: 1, agentId: 'agent_1', status: 'running' };
    house.sockets.publish('user_1', 'agent.status', event);
    expect(await client.next()).to.equal({ type: 'agent.status', data: event });
    expect(await client.ask({ type: 'unsubscribe', channels: ['agent.status'] })).to.equal({
      type: 'unsubscribed',
      channels: ['agent.status'],
    });
    house.sockets.publish('user_1', 'agent.status', { id: 2 });
    house.sockets.publish('user_1', 'agent.message', { id: 3 });
    expect(await client.next()).to.equal({ type: 'agent.message', data: { id: 3 } });
  });

  it('never hears what is another user’s', async () => {
    const mine = await Client.listening(house.url, house.door.sign('user_1'), 'agent.status');
    const theirs = await Client.listening(house.url, house.door.sign('user_2'), 'agent.status');
    house.sockets.publish('user_2', 'agent.status', { id: 1 });
    house.sockets.publish('user_1', 'agent.status', { id: 2 });
    house.sockets.publish('user_3', 'agent.status', { id: 3 });
    expect(await mine.next()).to.equal({ type: 'agent.status', data: { id: 2 } });
    expect(await theirs.next()).to.equal({ type: 'agent.status', data: { id: 1 } });
    expect(await mine.ask('{}')).to.include({ status: 400 });
    expect(await theirs.ask('{}')).to.include({ status: 400 });
  });

  it('is told which channels there are not', async () => {
    const client = await connect('user_1');
    const channels = ['agent.status', 'nope', '__proto__', '', 'agent.status'];
    const missing = (channel: string) => ({ channel, status: 404, message: 'Unknown channel' });
    for (const type of ['subscribe', 'unsubscribe']) {
      expect(await client.ask({ type, channels })).to.equal({
        type: `${type}d`,
        channels: ['agent.status'],
        errors: ['nope', '__proto__', ''].map(missing),
      });
    }
  });

  it('sends a chat message and learns where it went', async () => {
    const client = await connect('user_chat');
    expect(await client.ask({ type: 'message', content: 'Hello', id: 'm-1' })).to.equal({
      type: 'message',
      data: { sessionId: 'session_new', agentId: 'agent_1' },
      id: 'm-1',
    });
    const more = { content: 'x'.repeat(65_536), sessionId: 'session_1' };
    expect(await client.ask({ type: 'message', ...more })).to.equal({
      type: 'message',
      data: { sessionId: 'session_1', agentId: 'agent_1' },
    });
    const sent = house.door.messages.filter(([userId]) => userId === 'user_chat');
    expect(sent.map(([, message]) => message)).to.equal([
      { content: 'Hello', sessionId: undefined },
      more,
    ]);
  });

  it('is told why a message was refused, and nothing of a failure inside', async () => {
    const client = await connect('user_1');
    const refused = await client.ask({ type: 'message', content: 'refuse', id: 1 });
    expect(refused).to.equal({
      type: 'error',
      status: 404,
      message: 'No session with that id',
      id: 1,
    });
    const failed = await client.ask({ type: 'message', content: 'break' });
    expect(failed).to.equal({
      type: 'error',
      status: 500,
      message: 'An internal server error occurred',
    });
    const line = house.lines.find(([event]) => event === 'ws.failed');
    expect(line?.[1].err).to.be.an.error(TypeError, 'Broken inside');
  });

  it('is told which field is wrong', async () => {
    const client = await connect('user_1');
    const cases: [object, string][] = [
      [{ type: 'message' }, '"content" is required'],
      [{ type: 'message', content: '' }, '"content" is not allowed to be empty'],
      [{ type: 'message', content: 5 }, '"content" must be a string'],
      [
        { type: 'message', content: 'x'.repeat(65_537) },
        '"content" length must be less than or equal to 65536 characters long',
      ],
      [{ type: 'message', content: 'x', userId: 'user_2' }, '"userId" is not allowed'],
      [{ type: 'message', content: 'x', sessionId: null }, '"sessionId" must be a string'],
      [{ type: 'subscribe' }, '"channels" is required'],
      [{ type: 'subscribe', channels: 'agent.status' }, '"channels" must be an array'],
      [{ type: 'subscribe', channels: [] }, '"channels" must contain at least 1 items'],
      [{ type: 'subscribe', channels: [5] }, '"channels[0]" must be a string'],
      [{ type: 'zz' }, 'Unknown type. Known types: subscribe, unsubscribe, message'],
    ];
    for (const [frame, message] of cases) {
      expect(await client.ask({ ...frame, id: 3 })).to.equal({
        type: 'error',
        status: 400,
        message,
        id: 3,
      });
    }
  });

  it('gets its answer beside frames that take longer', async () => {
    const client = await connect('user_1');
    let finish = () => {};
    const { message } = house.door;
    house.door.message = async (...given) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return message.apply(house.door, given);
    };
    client.send({ type: 'message', content: 'slow', id: 'slow' });
    expect(await client.ask({ type: 'subscribe', channels: ['agent.status'], id: 2 })).to.include({
      id: 2,
    });
    finish();
    expect(await client.next()).to.include({ id: 'slow' });
    house.door.message = message;
  });

  it('is refused further frames while too many wait for an answer', async () => {
    const patient = await build({ limits: { maxPending: 2 } });
    const client = await Client.connect(patient.url, patient.door.sign('user_1'));
    await client.ask({ type: 'subscribe', channels: ['agent.status'] });
    patient.door.message = () => new Promise(() => {});
    client.send({ type: 'message', content: 'one' });
    client.send({ type: 'message', content: 'two' });
    expect(await client.ask({ type: 'message', content: 'three', id: 3 })).to.equal({
      type: 'error',
      status: 429,
      message:
        'Too many frames are waiting for a reply. Wait for replies before you send more frames',
      id: 3,
    });
    await patient.server.stop();
  });

  it('is closed with 4401 where the session ended between the gate and the first frame', async () => {
    const token = house.door.sign('user_late', 'session_late');
    const client = await Client.connect(house.url, token);
    house.door.revoke('session_late');
    client.send({ type: 'message', content: 'Too late' });
    expect(await client.closed).to.equal({ code: 4401, reason: 'The session has ended' });
    expect(house.door.messages.map(([userId]) => userId)).to.not.include('user_late');
  });
});
