import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, startApp, type TestApp } from '../../harness/app.js';
import { makeToken } from '../../harness/token.js';
import { Client, knock } from '../../http/socket/harness.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('a ticket for a socket', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let admin: { id: string; token: string };
  const issue = (token?: string) => app.call('POST', '/api/auth/ws-ticket', { token });
  const ticketOf = async (token: string): Promise<string> => (await issue(token)).body.ticket;
  const socketsUrl = () => `${app.url.replace('http', 'ws')}/ws`;
  const refusedWith = async (ticket: string) =>
    (await knock(`${socketsUrl()}?token=${ticket}`))?.status ?? null;

  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    admin = await app.register('first');
  });
  after(() => app.stop());

  it('opens one socket in place of the token, and no second one', async () => {
    const { status, body } = await issue(admin.token);
    expect({ status, ...body }).to.equal({
      status: 200,
      ticket: body.ticket,
      expiresAt: '2026-03-01T12:01:00.000Z',
    });
    const socket = await Client.connect(socketsUrl(), body.ticket);
    const channels = ['agent.status'];
    expect(await socket.ask({ type: 'subscribe', channels })).to.equal({
      type: 'subscribed',
      channels,
    });
    expect(await refusedWith(body.ticket)).to.equal(401);
    socket.ws.terminate();
  });

  it('is given to nobody without a token, and with nothing to say', async () => {
    expect((await issue()).status).to.equal(401);
    const { token } = admin;
    const extra = await app.call('POST', '/api/auth/ws-ticket', { token, body: { seconds: 1 } });
    expect([extra.status, extra.body.details[0].path]).to.equal([400, 'seconds']);
  });

  it('is worth nothing after a minute, nor as a token of the API', async () => {
    const ticket = await ticketOf(admin.token);
    expect((await app.call('GET', '/api/auth/me', { token: ticket })).status).to.equal(401);
    clock.forward(59_999);
    expect(await refusedWith(ticket)).to.be.null();
    const late = await ticketOf(admin.token);
    clock.forward(60_000);
    expect(await refusedWith(late)).to.equal(401);
  });

  it('ends with the logout of its session, before it is used and after', async () => {
    const { token } = await app.register('ada');
    const [used, unused] = [await ticketOf(token), await ticketOf(token)];
    const socket = await Client.connect(socketsUrl(), used);
    await app.call('POST', '/api/auth/logout', { token });
    expect((await socket.closed).code).to.equal(4401);
    expect(await refusedWith(unused)).to.equal(401);
  });

  it('carries the scopes of the personal access token that asked', async () => {
    const { token } = await app.register('bob');
    const made = await makeToken(app, token, { scopes: ['agents:read'] });
    const socket = await Client.connect(socketsUrl(), await ticketOf(made.token));
    const channels = ['agent.status', 'approval'];
    const { errors, ...answer } = await socket.ask({ type: 'subscribe', channels });
    expect(answer).to.equal({ type: 'subscribed', channels: ['agent.status'] });
    expect(errors).to.equal([
      { channel: 'approval', status: 403, message: 'The token lacks the scope approvals:read' },
    ]);
    await app.call('DELETE', `/api/auth/tokens/${made.id}`, { token });
    expect((await socket.closed).code).to.equal(4401);
  });

  it('of an admin who acts as a user ends with the admin’s own session', async () => {
    const { id } = await app.register('carl');
    const { body } = await app.call('POST', '/api/auth/login', {
      body: { username: 'first', password: 'correct horse battery' },
    });
    const acting = await app.impersonate(body.token, id);
    const socket = await Client.connect(socketsUrl(), await ticketOf(acting));
    const unused = await ticketOf(acting);
    await app.call('POST', '/api/auth/logout', { token: body.token });
    expect((await socket.closed).code).to.equal(4401);
    expect(await refusedWith(unused)).to.equal(401);
  });

  it('makes way for newer ones: twenty of a user are kept, and nobody else’s go', async () => {
    const { token } = await app.register('dora');
    const other = await ticketOf(admin.token);
    const tickets: string[] = [];
    for (let count = 0; count < 21; count++) tickets.push(await ticketOf(token));
    expect(await refusedWith(tickets[0] ?? '')).to.equal(401);
    expect(await refusedWith(tickets[1] ?? '')).to.be.null();
    expect(await refusedWith(tickets[20] ?? '')).to.be.null();
    expect(await refusedWith(other)).to.be.null();
  });
});
