import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { PASSWORD, startApp, type TestApp } from '../../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('a session', () => {
  let app: TestApp;
  const me = (token: string) => app.call('GET', '/api/auth/me', { token });
  const users = () => app.app.store.db.updateTable('users');

  before(async () => {
    app = await startApp();
    await app.register('first');
  });

  after(() => app.stop());

  it('ends at once on logout, and no other with it', async () => {
    const { token } = await app.register('ada');
    const other = await app.call('POST', '/api/auth/login', {
      body: { username: 'ada', password: PASSWORD },
    });
    const { status, text } = await app.call('POST', '/api/auth/logout', { token });
    expect({ status, text }).to.equal({ status: 204, text: '' });
    expect((await me(token)).status).to.equal(401);
    expect((await app.call('POST', '/api/auth/logout', { token })).status).to.equal(401);
    expect((await me(other.body.token)).status).to.equal(200);
  });

  it('closes its sockets at the logout', async () => {
    const { token } = await app.register('bob');
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/ws?token=${token}`);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await app.call('POST', '/api/auth/logout', { token });
    const [code] = await closed;
    expect(code).to.equal(4401);
  });

  it('survives a restart', async () => {
    const { token } = await app.register('carl');
    await app.restart();
    expect((await me(token)).status).to.equal(200);
  });

  it('loses a role with the next request', async () => {
    const { token } = await app.register('dora');
    const admin = () => app.call('GET', '/api/admin/users', { token });
    await users().set({ role: 'admin' }).where('username', '=', 'dora').execute();
    expect((await admin()).status).to.equal(200);
    await users().set({ role: 'user' }).where('username', '=', 'dora').execute();
    expect((await admin()).status).to.equal(403);
  });

  it('counts no more once its account is disabled or deleted', async () => {
    const { token } = await app.register('emil');
    await users().set({ disabled_at: '2026-01-01' }).where('username', '=', 'emil').execute();
    expect((await me(token)).status).to.equal(401);
    await users().set({ disabled_at: null }).where('username', '=', 'emil').execute();
    expect((await me(token)).status).to.equal(200);
    await app.app.store.db.deleteFrom('users').where('username', '=', 'emil').execute();
    expect((await me(token)).status).to.equal(401);
  });
});
