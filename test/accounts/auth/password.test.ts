import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, PASSWORD, startApp, type TestApp } from '../../harness/app.js';
import { makeToken } from '../../harness/token.js';
import { Client } from '../../http/socket/harness.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const NEXT = 'another horse battery';

describe('a change of the password', () => {
  const clock = frozenClock();
  let app: TestApp;
  let admin: string;
  /** Somebody who registers when the case begins. */
  let username: string;
  let id: string;
  let token: string;
  let cases = 0;

  before(async () => {
    app = await startApp({ clock });
    admin = (await app.register('root')).token;
  });
  beforeEach(async () => {
    cases += 1;
    username = `ada${cases}`;
    ({ id, token } = await app.register(username));
  });
  after(() => app.stop());

  const change = (body: unknown, with_: string | undefined = token) =>
    app.call('POST', '/api/auth/password', { token: with_, body });
  const logIn = (password: string) =>
    app.call('POST', '/api/auth/login', { body: { username, password } });
  const me = async (with_: string) =>
    (await app.call('GET', '/api/auth/me', { token: with_ })).status;

  it('ends the other logins and their sockets, and keeps this one and the tokens', async () => {
    const other = (await logIn(PASSWORD)).body.token;
    const made = await makeToken(app, token);
    const stranger = (await app.register('stranger')).token;
    const socket = await Client.connect(`${app.url.replace('http', 'ws')}/ws`, other);
    const { status, body } = await change({ current: PASSWORD, next: NEXT });
    expect({ status, body }).to.equal({
      status: 200,
      body: { sessionsEnded: 1, tokensLeft: 1 },
    });
    expect((await socket.closed).code).to.equal(4401);
    const each = [token, made.token, stranger, other];
    expect(await Promise.all(each.map(me))).to.equal([200, 200, 200, 401]);
    expect((await logIn(PASSWORD)).status).to.equal(401);
    expect((await logIn(NEXT)).status).to.equal(200);
  });

  it('is told to the owner', async () => {
    await change({ current: PASSWORD, next: NEXT });
    const { body } = await app.call('GET', '/api/notifications', { token });
    expect(body.notifications[0].kind).to.equal('password.changed');
  });

  it('needs the current one, and counts the wrong ones with the logins', async () => {
    const wrong = await change({ current: 'not the password', next: NEXT });
    expect([wrong.status, wrong.body.code]).to.equal([401, 'wrong_password']);
    for (let n = 0; n < 4; n++) await change({ current: 'not the password', next: NEXT });
    const flooded = await change({ current: PASSWORD, next: NEXT });
    expect([flooded.status, flooded.body.code]).to.equal([429, 'too_many_logins']);
    clock.forward(60_000);
    expect((await change({ current: PASSWORD, next: NEXT })).status).to.equal(200);
  });

  it('names what is missing or too short', async () => {
    const path = async (body: unknown) => {
      const reply = await change(body);
      return [reply.status, reply.body.details[0].path];
    };
    expect(await path({ next: NEXT })).to.equal([400, 'current']);
    expect(await path({ current: PASSWORD })).to.equal([400, 'next']);
    expect(await path({ current: PASSWORD, next: 'short' })).to.equal([400, 'next']);
    expect(await path({ current: PASSWORD, next: NEXT, role: 'admin' })).to.equal([400, 'role']);
    expect((await logIn(PASSWORD)).status).to.equal(200);
  });

  it('happens once where two change it at once', async () => {
    const replies = await Promise.all([
      change({ current: PASSWORD, next: NEXT }),
      change({ current: PASSWORD, next: 'a third horse battery' }),
    ]);
    expect(replies.map(({ status }) => status).sort()).to.equal([200, 409]);
  });

  it('sets a first one where the account has none, soon after login', async () => {
    const { db } = app.app.store;
    await db.updateTable('users').set({ password_hash: '' }).where('id', '=', id).execute();
    expect((await logIn('')).status).to.equal(400);
    expect((await logIn('anything at all')).status).to.equal(401);
    expect((await change({ current: 'anything at all', next: NEXT })).status).to.equal(401);
    clock.forward(10 * 60 * 1000 + 1);
    const late = await change({ next: NEXT });
    expect([late.status, late.body.code]).to.equal([403, 'password_required']);
    clock.forward(-60_000);
    expect((await change({ next: NEXT })).status).to.equal(200);
    expect((await logIn(NEXT)).status).to.equal(200);
  });

  it('is audited, without a password', async () => {
    await change({ current: 'not the password', next: NEXT });
    await change({ current: PASSWORD, next: NEXT });
    const path = `/api/admin/audit?action=auth.password&actorId=${id}`;
    const { body, text } = await app.call('GET', path, { token: admin });
    const said = body.entries.map(({ actorId, outcome }: Record<string, unknown>) => [
      actorId,
      outcome,
    ]);
    expect(said).to.equal([
      [id, 'ok'],
      [id, 'failed'],
    ]);
    expect(text).to.not.contain(NEXT).and.to.not.contain(PASSWORD);
  });
});
