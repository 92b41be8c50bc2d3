import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Config } from '../../../src/config.js';
import { PASSWORD, startApp, type TestApp } from '../../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('register', () => {
  let app: TestApp;
  const register = (body: object, headers: Record<string, string> = {}) =>
    app.call('POST', '/api/auth/register', { body, headers });

  before(async () => {
    app = await startApp();
    await app.register('first');
  });

  after(() => app.stop());

  it('makes an account and logs it in', async () => {
    const { status, body } = await register({
      username: 'ada',
      password: PASSWORD,
      email: 'ada@example.org',
    });
    const { user, token, expiresAt, deviceToken } = body;
    const whole = { user, token, expiresAt, deviceToken };
    expect({ status, body }).to.equal({ status: 201, body: whole });
    expect(deviceToken).to.match(/^[\w-]{43}$/);
    expect(user).to.equal({
      id: user.id,
      username: 'ada',
      email: 'ada@example.org',
      role: 'user',
      totpEnabled: false,
      recoveryCodesLeft: 0,
      passkeys: 0,
      channels: 0,
      impersonatedBy: null,
      createdAt: user.createdAt,
    });
    const me = await app.call('GET', '/api/auth/me', { token });
    expect({ status: me.status, body: me.body }).to.equal({ status: 200, body: user });
  });

  it('keeps names unique without regard to case and form', async () => {
    await register({ username: 'Grüße', password: PASSWORD });
    for (const username of ['grüße', 'GRÜßE', 'Gru\u0308ße', 'Ｇrüße']) {
      const { status, body } = await register({ username, password: PASSWORD });
      expect({ status, code: body.code, details: body.details }, username).to.equal({
        status: 409,
        code: 'username_taken',
        details: [{ path: 'username', message: 'is already in use' }],
      });
    }
  });

  it('keeps e-mail addresses unique', async () => {
    await register({ username: 'mail1', password: PASSWORD, email: 'One@Example.org' });
    const { status, body } = await register({
      username: 'mail2',
      password: PASSWORD,
      email: 'one@example.ORG',
    });
    expect({ status, code: body.code }).to.equal({ status: 409, code: 'email_taken' });
  });

  it('makes the name from the e-mail address where there is none, numbered until it is free', async () => {
    const names: string[] = [];
    for (const email of [
      'bob@a.example',
      'bob@b.example',
      'x@a.example',
      'a+b c@a.example',
      'Org_acme@a.example',
    ]) {
      const { body } = await register({ email, password: PASSWORD });
      names.push(body.user?.username ?? body.statusCode);
    }
    expect(names.slice(0, 3)).to.equal(['bob', 'bob-2', 'x--']);
    expect(names[4]).to.equal('org-acme');
  });

  for (const [what, body, field] of [
    ['a short name', { username: 'ab', password: PASSWORD }, 'username'],
    ['a long name', { username: 'a'.repeat(51), password: PASSWORD }, 'username'],
    ['a name with @', { username: 'a@b.c', password: PASSWORD }, 'username'],
    ['a name with blanks', { username: 'a b c', password: PASSWORD }, 'username'],
    ['the ID of an organization', { username: 'org_01jcx2kq7m', password: PASSWORD }, 'username'],
    ['the same in capitals', { username: 'Org_acme', password: PASSWORD }, 'username'],
    ['a name that is no text', { username: ['abc'], password: PASSWORD }, 'username'],
    ['a short password', { username: 'abc', password: '1234567' }, 'password'],
    ['a long password', { username: 'abc', password: 'x'.repeat(257) }, 'password'],
    ['no password', { username: 'abc' }, 'password'],
    ['no address', { username: 'abc', password: PASSWORD, email: 'nobody' }, 'email'],
    ['neither name nor address', { password: PASSWORD }, ''],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const reply = await register(body);
      expect(reply.status).to.equal(400);
      const paths = reply.body.details.map(({ path }: { path: string }) => path);
      expect(paths).to.include(field);
    });
  }

  it('ignores unknown keys, and they never take effect', async () => {
    const { status, body } = await register({
      username: 'mallory',
      password: PASSWORD,
      role: 'admin',
      id: 'user_1',
      userId: 'user_1',
      permissions: ['*'],
      isAdmin: true,
      totpEnabled: true,
      createdAt: '2000-01-01T00:00:00.000Z',
    });
    expect({ status, role: body.user.role, totp: body.user.totpEnabled }).to.equal({
      status: 201,
      role: 'user',
      totp: false,
    });
    expect(body.user.id).to.not.equal('user_1');
    expect((await app.call('GET', '/api/admin/users', { token: body.token })).status).to.equal(403);
  });

  it('refuses a page of another origin and what a proxy passed on', async () => {
    for (const [name, value] of [
      ['origin', 'https://evil.example'],
      ['x-forwarded-for', '127.0.0.1'],
      ['via', '1.1 proxy'],
    ] as const) {
      const headers = { [name]: value };
      const { status, body } = await register({ username: 'eve', password: PASSWORD }, headers);
      expect({ status, code: body.code }).to.equal({ status: 403, code: 'local_only' });
    }
  });
});

describe('the first account', () => {
  it('is the one admin when fifty register at once', async () => {
    const app = await startApp();
    try {
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          app.call('POST', '/api/auth/register', {
            body: { username: `user${n}`, password: PASSWORD },
          }),
        ),
      );
      expect(all.map(({ status }) => status)).to.equal(Array(50).fill(201));
      const admins = all.filter(({ body }) => body.user.role === 'admin');
      expect(admins.length).to.equal(1);
      const seen = await Promise.all(
        all.map(({ body }) => app.call('GET', '/api/admin/users', { token: body.token })),
      );
      expect(seen.filter(({ status }) => status !== 403).length).to.equal(1);
    } finally {
      await app.stop();
    }
  });

  it('is made from the settings where they name it', async () => {
    const app = await startApp({
      config: { registration: 'closed', adminUsername: 'root', adminPassword: PASSWORD },
    });
    try {
      const login = () =>
        app.call('POST', '/api/auth/login', { body: { username: 'ROOT', password: PASSWORD } });
      expect((await login()).body.user.role).to.equal('admin');
      await app.restart({ adminPassword: 'another password' });
      expect((await login()).status).to.equal(200);
    } finally {
      await app.stop();
    }
  });
});

describe('the registration policy', () => {
  let app: TestApp;
  let names = 0;
  before(async () => {
    app = await startApp();
    // Where there is an account already: the first one is another matter.
    await app.register('root');
  });
  after(() => app.stop());

  /** Opens the daemon again with those settings, and returns the status that it tells a newcomer. */
  const statusWith = async (
    { config }: { config: Partial<Config> },
    headers: Record<string, string> = {},
  ) => {
    await app.restart(config);
    names += 1;
    const body = { username: `ada${names}`, password: PASSWORD };
    const reply = await app.call('POST', '/api/auth/register', { body, headers });
    return [reply.status, reply.body.code];
  };
  const proxied = { 'x-forwarded-for': '203.0.113.9' };

  it('lets everybody in where it is open', async () => {
    expect(await statusWith({ config: { registration: 'open' } }, proxied)).to.equal([
      201,
      undefined,
    ]);
  });

  it('lets nobody in where it is closed', async () => {
    const closed = { config: { registration: 'closed' as const } };
    expect(await statusWith(closed)).to.equal([403, 'registration_closed']);
  });

  it('asks for an invite where it says so', async () => {
    const invite = { config: { registration: 'invite' as const } };
    expect(await statusWith(invite)).to.equal([403, 'invite_required']);
  });

  it('counts local as invite as soon as others could look local', async () => {
    for (const config of [
      { publicUrl: 'https://hooks.example.org' },
      { trustedProxies: ['127.0.0.1'] },
      { host: '0.0.0.0' },
    ]) {
      expect(await statusWith({ config })).to.equal([403, 'invite_required']);
    }
  });
});
