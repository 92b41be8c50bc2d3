import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, PASSWORD, startApp, type TestApp } from '../../harness/app.js';
import { Client } from '../../http/socket/harness.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

describe('logins', () => {
  const clock = frozenClock();
  let app: TestApp;
  let cases = 0;
  /** Somebody who registers when the case begins, and the token of that. */
  let username: string;
  let id: string;
  let first: string;
  let began: number;

  before(async () => {
    app = await startApp({ clock });
    await app.register('root');
  });
  beforeEach(async () => {
    cases += 1;
    username = `ada${cases}`;
    began = clock.now();
    ({ id, token: first } = await app.register(username));
  });
  after(() => app.stop());

  /** So long after the case began. */
  const at = (ms: number) => new Date(began + ms).toISOString();
  const logIn = async (device?: string, name = username) => {
    const body = { username: name, password: PASSWORD, device };
    return (await app.call('POST', '/api/auth/login', { body })).body;
  };
  const list = async (token: string, query = '') =>
    (await app.call('GET', `/api/auth/sessions${query}`, { token })).body;
  const end = (token: string, id: string) =>
    app.call('DELETE', `/api/auth/sessions/${id}`, { token });
  const refresh = (token: string | undefined) => app.call('POST', '/api/auth/refresh', { token });
  const me = async (token: string) => (await app.call('GET', '/api/auth/me', { token })).status;
  const expiryOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).exp * 1000;

  it('are listed with where and when, the newest first', async () => {
    clock.forward(60_000);
    const { token } = await logIn('CLI on laptop');
    const { sessions, nextCursor } = await list(token);
    expect(nextCursor).to.be.null();
    expect(sessions.map(({ id, ...rest }: { id: string }) => rest)).to.equal([
      {
        device: 'CLI on laptop',
        address: '127.0.0.1',
        createdAt: at(60_000),
        lastUsedAt: at(60_000),
        expiresAt: at(30 * DAY_MS + 60_000),
        current: true,
      },
      {
        device: null,
        address: '127.0.0.1',
        createdAt: at(0),
        lastUsedAt: null,
        expiresAt: at(12 * HOUR_MS),
        current: false,
      },
    ]);
  });

  it('are listed page by page', async () => {
    const { token } = await logIn();
    const one = await list(token, '?limit=1');
    const two = await list(token, `?limit=1&cursor=${one.nextCursor}`);
    expect([one.sessions[0].current, two.sessions[0].current, two.nextCursor]).to.equal([
      true,
      false,
      null,
    ]);
    expect((await app.call('GET', '/api/auth/sessions?limit=x', { token })).status).to.equal(400);
  });

  it('leave the list once they have ended', async () => {
    const { token } = await logIn();
    await app.call('POST', '/api/auth/logout', { token });
    expect((await list(first)).sessions.length).to.equal(1);
    const device = (await logIn('phone')).token;
    clock.forward(12 * HOUR_MS);
    expect((await list(device)).sessions.length).to.equal(1);
  });

  it('end one by one, at once, with their sockets', async () => {
    const { token } = await logIn('phone');
    const [session] = (await list(token)).sessions;
    const socket = await Client.connect(`${app.url.replace('http', 'ws')}/ws`, token);
    const { status, text } = await end(first, session.id);
    expect({ status, text }).to.equal({ status: 204, text: '' });
    expect((await socket.closed).code).to.equal(4401);
    expect([await me(token), await me(first)]).to.equal([401, 200]);
    expect((await end(first, session.id)).status).to.equal(404);
  });

  it('end themselves too', async () => {
    const [session] = (await list(first)).sessions;
    expect((await end(first, session.id)).status).to.equal(204);
    expect(await me(first)).to.equal(401);
  });

  it('of somebody else are not there', async () => {
    const other = (await app.register(`other${cases}`)).token;
    const [session] = (await list(first)).sessions;
    expect((await end(other, session.id)).status).to.equal(404);
    expect((await list(other)).sessions.length).to.equal(1);
    expect(await me(first)).to.equal(200);
  });

  it('end once where two end them at once', async () => {
    const { token } = await logIn();
    const [session] = (await list(token)).sessions;
    const replies = await Promise.all([end(first, session.id), end(first, session.id)]);
    expect(replies.map(({ status }) => status).sort()).to.equal([204, 404]);
  });

  it('give a fresh token, and the old one stays good', async () => {
    clock.forward(HOUR_MS);
    const { status, body } = await refresh(first);
    expect([status, body.expiresAt]).to.equal([200, at(13 * HOUR_MS)]);
    expect(expiryOf(body.token)).to.equal(Date.parse(body.expiresAt));
    expect([await me(first), await me(body.token)]).to.equal([200, 200]);
    clock.forward(11 * HOUR_MS);
    expect([await me(first), await me(body.token)]).to.equal([401, 200]);
    clock.forward(HOUR_MS);
    expect(await me(body.token)).to.equal(401);
  });

  it('go on for thirty days in all, however often they are refreshed', async () => {
    let token = first;
    for (let hours = 0; hours < 30 * 24 - 10; hours += 10) {
      clock.forward(10 * HOUR_MS);
      token = (await refresh(token)).body.token;
    }
    expect(expiryOf(token)).to.equal(began + 30 * DAY_MS);
    clock.forward(10 * HOUR_MS - 1);
    expect((await refresh(token)).body.expiresAt).to.equal(at(30 * DAY_MS));
    clock.forward(1);
    expect((await refresh(token)).status).to.equal(401);
  });

  it('of thirty days are made no shorter by a refresh', async () => {
    const { token, expiresAt } = await logIn('phone');
    clock.forward(DAY_MS);
    expect((await refresh(token)).body.expiresAt).to.equal(expiresAt);
  });

  it('are not revived by a refresh', async () => {
    const { token } = await logIn();
    const racing = Promise.all([
      refresh(token),
      app.call('POST', '/api/auth/logout', { token }),
      refresh(token),
    ]);
    const fresh = (await racing).flatMap(({ body }) => body?.token ?? []);
    expect(await Promise.all([token, ...fresh].map(me))).to.equal(
      Array(1 + fresh.length).fill(401),
    );
    expect((await refresh(undefined)).status).to.equal(401);
  });

  it('are audited when they are ended', async () => {
    const { token } = await logIn();
    const [session] = (await list(token)).sessions;
    await end(first, session.id);
    await end(first, session.id);
    const { body } = await app.call(
      'GET',
      `/api/admin/audit?action=sessions.delete&actorId=${id}`,
      {
        token: (await logIn(undefined, 'root')).token,
      },
    );
    const said = body.entries.map(({ target, outcome }: Record<string, unknown>) => [
      target,
      outcome,
    ]);
    expect(said).to.equal([
      [session.id, 'failed'],
      [session.id, 'ok'],
    ]);
  });
});
