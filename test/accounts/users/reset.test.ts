import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { generate } from 'otplib';
import { WebSocket } from 'ws';
import { openForSuite } from '../../harness/suite.js';
import { openStage, type Stage, withOthers } from './stage.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const NEXT = 'another good password';

describe('a reset link', () => {
  const opened = openForSuite(lab, openStage);
  /** With an admin and a user of the case's own. */
  let stage: Stage;
  beforeEach(async () => {
    // Wrong links are counted by the address alone: those of other cases are forgotten.
    opened.clock.forward(60_000);
    await opened.app.app.store.db.deleteFrom('login_failures').execute();
    stage = await withOthers(opened);
  });

  const reset = (inviteToken: string, password = NEXT) =>
    stage.app.call('POST', '/api/auth/reset', { body: { inviteToken, password } });
  const linkFor = (id: string) => stage.ask('POST', `/api/admin/users/${id}/invite`, {});
  const users = () => stage.app.app.store.db.updateTable('users');
  const refused = { statusCode: 403, code: 'invite_refused' };

  it('sets a password once, and ends every session of its user', async () => {
    const other = (await stage.login(stage.bob.username)).body.token;
    const socket = new WebSocket(`${stage.app.url.replace('http', 'ws')}/ws?token=${other}`);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const { inviteToken, url } = await stage.invite({}, stage.bob.id);
    expect(url).to.equal(`${stage.app.url}/reset#${inviteToken}`);
    const done = await reset(inviteToken);
    expect([done.status, done.body]).to.equal([200, { username: stage.bob.username }]);
    expect((await closed)[0]).to.equal(4401);
    const me = await Promise.all(
      [stage.bob.token, other].map((token) => stage.as({ token }, 'GET', '/api/auth/me')),
    );
    expect(me.map(({ status }) => status)).to.equal([401, 401]);
    expect((await stage.login(stage.bob.username)).status).to.equal(401);
    expect((await stage.login(stage.bob.username, NEXT)).status).to.equal(200);
    expect((await stage.ask('GET', '/api/auth/me')).status).to.equal(200);
    expect((await reset(inviteToken, 'a third password')).body).to.include(refused);
  });

  it('keeps the second factor, tokens and all that is theirs', async () => {
    const { secret } = (await stage.as(stage.bob, 'POST', '/api/auth/totp/setup', {})).body;
    const code = await generate({ secret, epoch: Math.floor(stage.clock.now() / 1000) });
    await stage.as(stage.bob, 'POST', '/api/auth/totp/enable', { code });
    const pat = (await stage.as(stage.bob, 'POST', '/api/auth/tokens', { name: 'ci' })).body.token;
    const { inviteToken } = await stage.invite({}, stage.bob.id);
    expect((await reset(inviteToken)).status).to.equal(200);
    const without = await stage.login(stage.bob.username, NEXT);
    expect([without.status, without.body.code]).to.equal([401, 'totp_required']);
    const body = { username: stage.bob.username, password: NEXT, totpCode: code };
    expect((await stage.app.call('POST', '/api/auth/login', { body })).status).to.equal(200);
    expect((await stage.as({ token: pat }, 'GET', '/api/auth/me')).status).to.equal(200);
  });

  it('is never for an admin', async () => {
    for (const id of [stage.admin.id, stage.bob.id]) {
      await users().set({ role: 'admin' }).where('id', '=', id).execute();
      const { status, body } = await linkFor(id);
      expect([status, body.code]).to.equal([403, 'admin_account']);
    }
  });

  it('is nothing any more once its user is an admin, or disabled', async () => {
    const { inviteToken } = await stage.invite({}, stage.bob.id);
    for (const change of [{ role: 'admin' as const }, { disabled_at: '2026-01-01' }]) {
      await users()
        .set({ role: 'user', disabled_at: null, ...change })
        .where('id', '=', stage.bob.id)
        .execute();
      expect((await reset(inviteToken)).body).to.include(refused);
    }
    const disabled = await linkFor(stage.bob.id);
    expect([disabled.status, disabled.body.code]).to.equal([409, 'account_disabled']);
    await users().set({ disabled_at: null }).where('id', '=', stage.bob.id).execute();
    expect((await reset(inviteToken)).status).to.equal(200);
  });

  it('takes the place of the one before', async () => {
    const first = await stage.invite({}, stage.bob.id);
    const second = await stage.invite({}, stage.bob.id);
    expect((await reset(first.inviteToken)).body).to.include(refused);
    expect((await reset(second.inviteToken)).status).to.equal(200);
  });

  it('makes no account, and an invite sets no password', async () => {
    const link = await stage.invite({}, stage.bob.id);
    const invite = await stage.invite();
    expect((await stage.register({ username: 'carla', ...link })).body).to.include(refused);
    expect((await reset(invite.inviteToken)).body).to.include(refused);
    expect((await reset(link.inviteToken)).status).to.equal(200);
  });

  it('sets one password when twenty race with it', async () => {
    const { inviteToken } = await stage.invite({}, stage.bob.id);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => reset(inviteToken, `${NEXT} ${n}`)),
    );
    const winner = replies.findIndex(({ status }) => status === 200);
    expect(replies.filter(({ status }) => status === 200).length).to.equal(1);
    expect((await stage.login(stage.bob.username, `${NEXT} ${winner}`)).status).to.equal(200);
  });

  it('takes no role and no address', async () => {
    const path = `/api/admin/users/${stage.bob.id}/invite`;
    const { status, body } = await stage.ask('POST', path, {
      role: 'admin',
      email: 'a@example.org',
    });
    const paths = body.details.map(({ path }: { path: string }) => path);
    expect([status, paths]).to.equal([400, ['role', 'email']]);
  });

  it('cannot be guessed for nothing, and lets in who failed before', async () => {
    for (let n = 0; n < 7; n++) await stage.login(stage.bob.username, 'wrong password');
    expect((await stage.login(stage.bob.username)).status).to.equal(429);
    const { inviteToken } = await stage.invite({}, stage.bob.id);
    expect((await reset(inviteToken)).status).to.equal(200);
    expect((await stage.login(stage.bob.username, NEXT)).status).to.equal(200);
    const guesses: number[] = [];
    for (let n = 0; n < 7; n++) guesses.push((await reset('x'.repeat(43))).status);
    expect(guesses).to.equal([403, 403, 403, 403, 403, 429, 429]);
  });

  it('refuses a short password and stays good', async () => {
    const { inviteToken } = await stage.invite({}, stage.bob.id);
    const { status, body } = await reset(inviteToken, '1234567');
    expect([status, body.details[0].path]).to.equal([400, 'password']);
    expect((await reset(inviteToken)).status).to.equal(200);
  });

  it('stands in the audit log, and its user is told', async () => {
    const { inviteToken } = await stage.invite({}, stage.bob.id);
    await reset(inviteToken);
    const all = [...(await stage.audited('users.invite')), ...(await stage.audited('users.reset'))];
    const log = all.filter(({ target }) => target === stage.bob.id);
    expect(log.map(({ actor_id, target }) => [actor_id, target])).to.equal([
      [stage.admin.id, stage.bob.id],
      [stage.bob.id, stage.bob.id],
    ]);
    expect(JSON.stringify(all)).to.not.contain(inviteToken);
    const { token } = (await stage.login(stage.bob.username, NEXT)).body;
    const told = await stage.as({ token }, 'GET', '/api/notifications');
    expect(told.body.notifications[0].kind).to.equal('password.reset');
  });
});
