import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { PASSWORD } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage, type Stage, withOthers } from './stage.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const HOUR_MS = 3600 * 1000;

describe('an admin who acts as a user', () => {
  const opened = openForSuite(lab, openStage);
  /** With an admin and a user of the case's own. */
  let stage: Stage;
  let began: number;
  beforeEach(async () => {
    stage = await withOthers(opened);
    began = stage.clock.now();
  });

  /** So many hours after the case began. */
  const at = (hours: number) => new Date(began + hours * HOUR_MS).toISOString();

  const impersonate = (id: string, body: object = { reason: 'ticket 41' }) =>
    stage.ask('POST', `/api/admin/users/${id}/impersonate`, body);
  const actAsBob = async (): Promise<{ token: string }> => {
    const { status, body, text } = await impersonate(stage.bob.id);
    if (status !== 200) throw new Error(text);
    return body;
  };
  const me = (who: { token: string }) => stage.as(who, 'GET', '/api/auth/me');
  const patch = (id: string, body: object) => stage.ask('PATCH', `/api/admin/users/${id}`, body);
  /** The code that it closes with. */
  const openSocket = async ({ token }: { token: string }) => {
    const socket = new WebSocket(`${stage.app.url.replace('http', 'ws')}/ws?token=${token}`);
    const closed = once(socket, 'close').then(([code]) => code);
    await once(socket, 'open');
    return { closed };
  };

  it('is told to the user, with the name and the reason', async () => {
    await actAsBob();
    const { body } = await stage.as(stage.bob, 'GET', '/api/notifications');
    const [{ kind, title, body: text }] = body.notifications;
    expect([kind, title]).to.equal([
      'impersonation.begun',
      `An admin is impersonating you: ${stage.admin.username}`,
    ]);
    expect(text).to.contain('Reason: ticket 41.').and.to.contain(at(1));
  });

  it('is that user for an hour, and it shows', async () => {
    const { status, body } = await impersonate(stage.bob.id);
    expect([status, body.expiresAt]).to.equal([200, at(1)]);
    const seen = await me(body);
    expect([seen.body.id, seen.body.role, seen.body.impersonatedBy]).to.equal([
      stage.bob.id,
      'user',
      stage.admin.username,
    ]);
    expect((await me(stage.bob)).body.impersonatedBy).to.be.null();
    const claims = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url').toString());
    expect([claims.sub, claims.act]).to.equal([stage.bob.id, { sub: stage.admin.id }]);
    stage.clock.forward(HOUR_MS);
    expect([(await me(body)).status, (await me(stage.admin)).status]).to.equal([401, 200]);
  });

  it('gives a reason, which is kept', async () => {
    for (const body of [{}, { reason: '' }, { reason: 5 }, { reason: 'x', as: 'y' }]) {
      expect((await impersonate(stage.bob.id, body)).status).to.equal(400);
    }
    await actAsBob();
    const rows = await stage.audited('users.impersonate');
    const own = rows.filter(({ target }) => target === stage.bob.id);
    expect(own.find(({ outcome }) => outcome === 'ok')).to.equal({
      actor_id: stage.admin.id,
      impersonator_id: null,
      target: stage.bob.id,
      outcome: 'ok',
      data: { reason: 'ticket 41', expiresAt: at(1) },
    });
  });

  it('stands under both names in the audit log', async () => {
    const acting = await actAsBob();
    const spawned = await stage.as(acting, 'POST', '/api/agents', { prompt: 'Hello' });
    expect(spawned.status).to.equal(201);
    const row = (await stage.audited('agents.spawn')).at(-1);
    expect([row?.actor_id, row?.impersonator_id]).to.equal([stage.bob.id, stage.admin.id]);
  });

  it('is no admin, acts as none, and as nobody else from there', async () => {
    const acting = await actAsBob();
    expect((await impersonate(stage.admin.id)).body.code).to.equal('admin_account');
    await stage.register({ username: 'carla' });
    for (const path of ['', `/${stage.bob.id}/impersonate`, '/new/invite']) {
      const method = path === '' ? 'GET' : 'POST';
      const body = path === '' ? undefined : { reason: 'x' };
      const reply = await stage.as(acting, method, `/api/admin/users${path}`, body);
      expect(reply.status, path).to.equal(403);
    }
  });

  it('does not act as who is disabled', async () => {
    await patch(stage.bob.id, { disabled: true });
    const { status, body } = await impersonate(stage.bob.id);
    expect([status, body.code]).to.equal([409, 'account_disabled']);
  });

  it('ends with a logout of its own, and the admin goes on', async () => {
    const acting = await actAsBob();
    expect((await stage.as(acting, 'POST', '/api/auth/logout')).status).to.equal(204);
    const left = await Promise.all([acting, stage.admin, stage.bob].map(me));
    expect(left.map(({ status }) => status)).to.equal([401, 200, 200]);
  });

  it('ends with the admin’s logout, sockets included', async () => {
    const acting = await actAsBob();
    const { closed } = await openSocket(acting);
    await stage.ask('POST', '/api/auth/logout');
    expect([await closed, (await me(acting)).status]).to.equal([4401, 401]);
    expect((await me(stage.bob)).status).to.equal(200);
  });

  it('ends with the admin’s own session alone, not with another of his', async () => {
    const acting = await actAsBob();
    const other = (await stage.login(stage.admin.username)).body;
    await stage.as(other, 'POST', '/api/auth/logout');
    expect((await me(acting)).status).to.equal(200);
  });

  for (const [what, change] of [
    ['is demoted', { role: 'user' }],
    ['is disabled', { disabled: true }],
  ] as const) {
    it(`ends when the admin ${what}, sockets included`, async () => {
      const acting = await actAsBob();
      const { closed } = await openSocket(acting);
      const root = await withOthers(opened);
      await root.ask('PATCH', `/api/admin/users/${stage.admin.id}`, change);
      expect([await closed, (await me(acting)).status]).to.equal([4401, 401]);
      await root.ask('PATCH', `/api/admin/users/${stage.admin.id}`, {
        role: 'admin',
        disabled: false,
      });
      expect((await me(acting)).status).to.equal(401);
    });
  }

  it('ends when the user becomes an admin or is disabled', async () => {
    for (const change of [{ role: 'admin' }, { disabled: true }]) {
      const acting = await actAsBob();
      const { closed } = await openSocket(acting);
      await patch(stage.bob.id, change);
      expect([await closed, (await me(acting)).status]).to.equal([4401, 401]);
      await patch(stage.bob.id, { role: 'user', disabled: false });
      expect((await me(acting)).status).to.equal(401);
    }
  });

  it('ends when the admin’s session is over, however long an hour is', async () => {
    stage.clock.forward(11.5 * HOUR_MS);
    const { body } = await impersonate(stage.bob.id, { reason: 'ticket 41', password: PASSWORD });
    expect(body.expiresAt).to.equal(at(12));
    stage.clock.forward(HOUR_MS / 2);
    expect((await me(body)).status).to.equal(401);
  });
});
