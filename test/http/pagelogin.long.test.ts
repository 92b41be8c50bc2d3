import { request } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { frozenClock, PASSWORD, type Reply, startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const PUBLIC = 'https://adjutant.example.org';

describe('the login of the page', () => {
  const clock = frozenClock();
  let app: TestApp;
  let ada: { id: string; token: string };
  let bob: { id: string; token: string };
  let name: string;

  const own = (): Record<string, string> => ({ origin: app.url, 'x-adjutant-page': '1' });
  const logIn = (username: string, headers: Record<string, string> = own()): Promise<Reply> =>
    app.call('POST', '/api/auth/login', { body: { username, password: PASSWORD }, headers });
  const cookieOf = (reply: Reply): string => reply.headers['set-cookie']?.split(';')[0] ?? '';
  /** Returns the headers with which the page shows its login: the cookie, and the key that opens it. */
  const shownBy = (reply: Reply): Record<string, string> => ({
    cookie: cookieOf(reply),
    'x-adjutant-page': reply.body.token,
  });
  const visit = async (headers: Record<string, string>) =>
    (
      await app.call('GET', '/api/auth/me', {
        headers: { ...shownBy(await logIn('ada')), ...headers },
      })
    ).status;
  const change = async (headers: Record<string, string>) =>
    app.call('POST', '/api/auth/ws-ticket', {
      headers: { ...shownBy(await logIn('ada')), ...headers },
    });

  before(async () => {
    app = await startApp({ clock, config: { publicUrl: PUBLIC, registration: 'open' } });
    ada = await app.register('ada');
    bob = await app.register('bob');
    name = `adjutant-${new URL(app.url).port}`;
  });

  after(() => app.stop());

  it('is a cookie that scripts, other sites and other paths do not see', async () => {
    const reply = await logIn('ada');
    expect(reply.status).to.equal(200);
    // The key in its place opens the cookie, and is no token.
    expect(reply.body.token).to.match(/^[\w-]{43}$/);
    const asToken = { token: reply.body.token };
    expect((await app.call('GET', '/api/auth/me', asToken)).status).to.equal(401);
    const [pair, ...attributes] = reply.headers['set-cookie']?.split('; ') ?? [];
    expect(pair).to.match(new RegExp(`^${name}=[\\w-]{100,}$`));
    expect(attributes).to.equal(['Path=/', 'HttpOnly', 'SameSite=Strict', 'Max-Age=43200']);
    const away = await logIn('ada', { origin: PUBLIC, 'x-adjutant-page': '1' });
    expect(away.headers['set-cookie']).to.match(
      /^__Host-adjutant=[\w-]{100,}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
    );
  });

  it('gives other clients their token, and no cookie', async () => {
    const cases: Record<string, string>[] = [
      {},
      { origin: app.url },
      { origin: app.url, 'x-adjutant-page': '0' },
      { 'x-adjutant-page': '1' },
    ];
    for (const headers of cases) {
      const reply = await logIn('ada', headers);
      expect(reply.headers['set-cookie'], JSON.stringify(headers)).to.be.undefined();
      expect(reply.body.token).to.match(/^ey/);
    }
  });

  it('reads with the header of the page, from its own origin', async () => {
    const statuses = {
      own: await visit({}),
      sameSite: await visit({ 'sec-fetch-site': 'same-origin' }),
      plain: await visit({ 'x-adjutant-page': '' }),
      crossSite: await visit({ 'sec-fetch-site': 'cross-site' }),
      sibling: await visit({ 'sec-fetch-site': 'same-site' }),
      typed: await visit({ 'sec-fetch-site': 'none' }),
      foreign: await visit({ origin: 'https://evil.example' }),
      opaque: await visit({ origin: 'null' }),
      prefixed: await visit({ origin: `${app.url}.evil.example` }),
    };
    expect(statuses).to.equal({
      own: 200,
      sameSite: 200,
      plain: 401,
      crossSite: 401,
      sibling: 401,
      typed: 401,
      foreign: 401,
      opaque: 401,
      prefixed: 401,
    });
  });

  it('changes something only with an Origin, for the user whom the page shows', async () => {
    const asked = async (headers: Record<string, string>) => (await change(headers)).status;
    const user = { 'x-adjutant-user': ada.id };
    expect(await asked({ origin: app.url, ...user })).to.equal(200);
    expect(await asked({ ...user })).to.equal(401);
    expect(await asked({ origin: app.url, 'x-adjutant-page': '', ...user })).to.equal(401);
    expect(await asked({ ...user, origin: 'https://evil.example' })).to.equal(401);
    const other = await change({ origin: app.url, 'x-adjutant-user': bob.id });
    expect([other.status, other.body.code]).to.equal([401, 'other_user']);
    const none = await change({ origin: app.url });
    expect([none.status, none.body.code]).to.equal([401, 'other_user']);
  });

  it('takes no cookie beside a token', async () => {
    const headers = shownBy(await logIn('ada'));
    const asBob = await app.call('GET', '/api/auth/me', { token: bob.token, headers });
    expect(asBob.body.username).to.equal('bob');
    const basic = { ...headers, authorization: 'Basic YTpi' };
    expect((await app.call('GET', '/api/auth/me', { headers: basic })).status).to.equal(401);
  });

  it('is worth nothing to another server on this host, which sees its cookie', async () => {
    const reply = await logIn('ada');
    const [, value = ''] = cookieOf(reply).split('=');
    const me = async (headers: Record<string, string>, token?: string) =>
      (await app.call('GET', '/api/auth/me', { headers, ...(token && { token }) })).status;
    const cookie = cookieOf(reply);
    const own = { origin: app.url, cookie };
    const otherKey = (await logIn('ada')).body.token;
    expect({
      asToken: await me({}, value),
      withoutKey: await me({ ...own, 'x-adjutant-page': '1' }),
      withAnother: await me({ ...own, 'x-adjutant-page': otherKey }),
      cut: await me({ ...shownBy(reply), cookie: cookie.slice(0, -2) }),
      whole: await me(shownBy(reply)),
    }).to.equal({ asToken: 401, withoutKey: 401, withAnother: 401, cut: 401, whole: 200 });
  });

  it('is found among cookies of its names that others have set', async () => {
    const mine = shownBy(await logIn('ada'));
    const theirs = cookieOf(await logIn('bob')).replace(name, '__Host-adjutant');
    for (const planted of [theirs, `${name}=x`, '__Host-adjutant=', `${theirs}; ${name}=y`]) {
      for (const cookie of [`${planted}; ${mine.cookie}`, `${mine.cookie}; ${planted}`]) {
        const reply = await app.call('GET', '/api/auth/me', { headers: { ...mine, cookie } });
        expect([cookie.length > 0, reply.body.username]).to.equal([true, 'ada']);
      }
    }
  });

  it('ends with the logout, at once and here alone', async () => {
    const here = shownBy(await logIn('ada'));
    const there = shownBy(await logIn('ada'));
    const headers = { origin: app.url, ...here, 'x-adjutant-user': ada.id };
    const reply = await app.call('POST', '/api/auth/logout', { headers });
    expect(reply.status).to.equal(204);
    expect(reply.headers['set-cookie']).to.equal(
      `${name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`,
    );
    const me = async (shown: Record<string, string>) =>
      (await app.call('GET', '/api/auth/me', { headers: shown })).status;
    expect([await me(here), await me(there)]).to.equal([401, 200]);
  });

  it('refuses a login over http beyond this machine, before it begins', async () => {
    const host = '192.0.2.7:3005';
    const headers = { host, origin: `http://${host}`, 'x-adjutant-page': '1' };
    const before = await sessionsOf(app, ada.token);
    const reply = await askWithHost(app.url, headers);
    expect([reply.status, JSON.parse(reply.text).code]).to.equal([400, 'https_required']);
    expect(await sessionsOf(app, ada.token)).to.equal(before);
  });

  it('refuses a host that is no host, without an error of its own', async () => {
    for (const host of ['::::', '[', 'a b', 'x:99999']) {
      const headers = { host, origin: `http://${host}`, 'x-adjutant-page': '1' };
      expect([host, (await askWithHost(app.url, headers)).status]).to.equal([host, 400]);
    }
  });

  it('opens a socket from its own origin by a ticket', async () => {
    const { body } = await change({ origin: app.url, 'x-adjutant-user': ada.id });
    expect(await opens(app, body.ticket, app.url)).to.equal('open');
    const second = await change({ origin: app.url, 'x-adjutant-user': ada.id });
    expect(await opens(app, second.body.ticket, 'https://evil.example')).to.equal('403');
  });

  it('is off, or on this machine alone, where the setting says so', async () => {
    try {
      await app.restart({ page: 'off' });
      expect((await logIn('ada')).headers['set-cookie']).to.be.undefined();
      await app.restart({ page: 'local' });
      expect((await logIn('ada')).headers['set-cookie']).to.match(/^adjutant-/);
      const away = await logIn('ada', { origin: PUBLIC, 'x-adjutant-page': '1' });
      expect(away.headers['set-cookie']).to.be.undefined();
    } finally {
      await app.restart({ page: 'on' });
    }
  });
});

const sessionsOf = async (app: TestApp, token: string): Promise<number> =>
  (await app.call('GET', '/api/auth/sessions?limit=200', { token })).body.sessions.length;

/** A login with a Host of its own, which fetch would replace. */
const askWithHost = (url: string, headers: Record<string, string>) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const asked = request(
      {
        hostname,
        port,
        path: '/api/auth/login',
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    asked.on('error', reject).end(JSON.stringify({ username: 'ada', password: PASSWORD }));
  });

/** Returns `open`, or the status with which a socket was refused. */
const opens = (app: TestApp, ticket: string, origin: string): Promise<string> =>
  new Promise((resolve) => {
    const url = `${app.url.replace('http', 'ws')}/ws?token=${ticket}`;
    const socket = new WebSocket(url, { origin });
    socket.on('open', () => {
      socket.close();
      resolve('open');
    });
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_, { statusCode }) => resolve(String(statusCode)));
  });
