import { createHash } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { generate } from 'otplib';
import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  type Reply,
  startApp,
  type TestApp,
} from '../../harness/app.js';
import { type Guarded, registerGuarded, WRONG_CODE } from '../../harness/factor.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const MINUTE = 60_000;
/** The delay of each login to an account with many failures. */
const DELAY_MS = 2000;

const clockWithoutDelay = (): FrozenClock => {
  const clock = frozenClock();
  const wait: FrozenClock['wait'] = async (ms, ...options) => {
    if (ms !== DELAY_MS) await clock.wait(ms, ...options);
  };
  return { ...clock, wait };
};

describe('codes of an authenticator app', () => {
  const clock = clockWithoutDelay();
  let app: TestApp;
  /** Somebody with an authenticator app, who registers when the case begins. */
  let ada: Guarded;
  let username: string;
  /** The name of a second one, whom no case before has made. */
  let bobsName: string;
  let cases = 0;
  let calls = 0;

  before(async () => {
    const config = { registration: 'open' as const, trustedProxies: ['127.0.0.1'] };
    app = await startApp({ clock, config });
  });
  beforeEach(async () => {
    cases += 1;
    username = `ada${cases}`;
    bobsName = `bob${cases}`;
    ada = await registerGuarded(app, clock, username);
    // The code that enabled it counts for logins still; the next ones are of later steps.
    clock.forward(MINUTE);
  });
  after(() => app.stop());

  /** Each from an address of its own. */
  const login = (totpCode: string, deviceToken?: string): Promise<Reply> => {
    calls += 1;
    return app.call('POST', '/api/auth/login', {
      headers: { 'x-forwarded-for': `198.51.${calls >> 8}.${calls & 255}` },
      body: { username, password: PASSWORD, totpCode, ...(deviceToken && { deviceToken }) },
    });
  };
  const fail = async (times: number, deviceToken?: string): Promise<(string | number)[]> => {
    const replies = Array.from({ length: times }, () => login(WRONG_CODE, deviceToken));
    return (await Promise.all(replies)).map(({ body }) => body.code).sort();
  };
  const outcome = ({ status, body, headers }: Reply) => [
    ...[status, body.code ?? null, headers['retry-after'] ?? null],
  ];
  const notices = async () => {
    const { body } = await app.call('GET', '/api/notifications', { token: ada.token });
    return body.notifications.filter(({ kind }: { kind: string }) => kind === 'login.codes');
  };
  const inDays = (days: number) => new Date(clock.now() + days * 24 * 60 * MINUTE).toISOString();
  const times = (count: number, what: string) => Array.from({ length: count }, () => what);

  it('are judged ten times in five minutes from whatever addresses, and a right one then not', async () => {
    const all = await fail(25);
    expect(all).to.equal([...times(15, 'too_many_codes'), ...times(10, 'wrong_code')]);
    const right = await login(await ada.code());
    expect(outcome(right)).to.equal([429, 'too_many_codes', '300']);
    clock.forward(5 * MINUTE);
    expect((await login(await ada.code())).status).to.equal(200);
  });

  it('count in a window of five minutes', async () => {
    await fail(9);
    clock.forward(5 * MINUTE);
    expect(await fail(9)).to.equal(times(9, 'wrong_code'));
    expect((await login(await ada.code())).status).to.equal(200);
    expect(await fail(10)).to.equal(times(10, 'wrong_code'));
  });

  it('are locked for twice as long each time, at most an hour, also over a restart', async () => {
    for (const minutes of [5, 10, 20, 40, 60, 60]) {
      expect(await fail(10)).to.equal(times(10, 'wrong_code'));
      if (minutes === 5) await app.restart();
      const refused = await login(WRONG_CODE);
      expect(outcome(refused)).to.equal([429, 'too_many_codes', String(minutes * 60)]);
      clock.forward(minutes * MINUTE);
    }
    expect((await login(await ada.code())).status).to.equal(200);
  });

  it('tell the owner at the first that is refused, once', async () => {
    await fail(10);
    expect(await notices()).to.equal([]);
    await fail(8);
    clock.forward(5 * MINUTE);
    await fail(20);
    const told = await notices();
    expect(told.map(({ title }: { title: string }) => title)).to.equal([
      'Somebody has your password and is guessing codes of your authenticator app',
    ]);
  });

  it('lock no recovery code', async () => {
    await fail(12);
    const [code = ''] = ada.recoveryCodes;
    expect((await login(code)).status).to.equal(200);
    expect((await login(await ada.code())).status).to.equal(429);
  });

  it('lock no passwords of others, and none of those who have not the password', async () => {
    const bob = await registerGuarded(app, clock, bobsName);
    await fail(12);
    const body = { username: bobsName, password: PASSWORD, totpCode: await bob.code() };
    expect((await app.call('POST', '/api/auth/login', { body })).status).to.equal(200);
  });

  describe('with the token of a device', () => {
    it('have a count of their own', async () => {
      const { deviceToken } = (await login(await ada.code())).body;
      expect(deviceToken).to.match(/^[\w-]{43}$/);
      await fail(12);
      clock.forward(MINUTE);
      const known = await login(await ada.code(), deviceToken);
      expect([known.status, known.body.deviceToken]).to.equal([200, deviceToken]);
      const all = await fail(14, deviceToken);
      expect(all).to.equal([...times(4, 'too_many_codes'), ...times(10, 'wrong_code')]);
      clock.forward(5 * MINUTE);
      expect((await login(await ada.code())).status).to.equal(200);
    });

    it('count as without one where it is another’s, made up, or over', async () => {
      const bob = await registerGuarded(app, clock, bobsName);
      const body = { username: bobsName, password: PASSWORD, totpCode: await bob.code() };
      const ofBob = (await app.call('POST', '/api/auth/login', { body })).body.deviceToken;
      const own = (await login(await ada.code())).body.deviceToken;
      clock.forward(180 * 24 * 60 * MINUTE);
      await fail(10);
      for (const token of [ofBob, own, 'x', '']) {
        expect((await login(await ada.code(), token)).body.code).to.equal('too_many_codes');
      }
    });

    it('is kept as a digest, and forgotten with the password', async () => {
      const { deviceToken, token } = (await login(await ada.code())).body;
      const rows = () =>
        app.app.store.db
          .selectFrom('device_tokens')
          .selectAll()
          .where('user_id', '=', ada.id)
          .execute();
      const digest = createHash('sha256').update(deviceToken).digest('base64url');
      expect(await rows()).to.equal([{ digest, user_id: ada.id, expires_at: inDays(180) }]);
      const body = { current: PASSWORD, next: 'another good password' };
      await app.call('POST', '/api/auth/password', { token, body });
      expect(await rows()).to.equal([]);
    });

    it('comes without a second factor where the account has none, and ends when it has one', async () => {
      const { id, token } = await app.register(bobsName);
      const credentials = { username: bobsName, password: PASSWORD };
      const first = await app.call('POST', '/api/auth/login', { body: credentials });
      const { deviceToken } = first.body;
      expect(first.status).to.equal(200);
      expect(deviceToken).to.match(/^[\w-]{43}$/);
      const again = await app.call('POST', '/api/auth/login', {
        body: { ...credentials, deviceToken },
      });
      expect([again.status, again.body.deviceToken]).to.equal([200, deviceToken]);
      const setup = await app.call('POST', '/api/auth/totp/setup', { token, body: {} });
      const { secret } = setup.body;
      const code = () => generate({ secret, epoch: Math.floor(clock.now() / 1000) });
      const body = { code: await code() };
      const enabled = await app.call('POST', '/api/auth/totp/enable', { token, body });
      expect([enabled.status, Object.keys(enabled.body)]).to.equal([200, ['recoveryCodes']]);
      const kept = app.app.store.db.selectFrom('device_tokens').select('digest');
      expect(await kept.where('user_id', '=', id).execute()).to.equal([]);
      clock.forward(MINUTE);
      const tries = Array.from({ length: 14 }, (_, n) => {
        const given = { ...credentials, totpCode: WRONG_CODE, ...(n % 2 && { deviceToken }) };
        calls += 1;
        const headers = { 'x-forwarded-for': `198.51.${calls >> 8}.${calls & 255}` };
        return app.call('POST', '/api/auth/login', { headers, body: given });
      });
      const codes = (await Promise.all(tries)).map((reply) => reply.body.code).sort();
      expect(codes).to.equal([...times(4, 'too_many_codes'), ...times(10, 'wrong_code')]);
    });

    it('replaces no factor', async () => {
      const { deviceToken } = (await login(await ada.code())).body;
      const ask = (more: object) =>
        app.call('POST', '/api/auth/login', { body: { username, deviceToken, ...more } });
      expect((await ask({ password: 'wrong password' })).status).to.equal(401);
      expect((await ask({ password: PASSWORD })).body.code).to.equal('totp_required');
    });
  });

  it('are counted where one is logged in too, apart from those of strangers', async () => {
    await fail(12);
    const verify = async (code: string) => {
      calls += 1;
      const headers = { 'x-forwarded-for': `198.51.${calls >> 8}.${calls & 255}` };
      const ask = { token: ada.token, headers, body: { code } };
      return (await app.call('POST', '/api/auth/totp/verify', ask)).body;
    };
    expect(await verify(await ada.code())).to.equal({ valid: true });
    const all = await Promise.all(Array.from({ length: 14 }, () => verify(WRONG_CODE)));
    expect(all.map(({ code }) => code).sort()).to.equal([
      ...times(4, 'too_many_codes'),
      ...times(10, 'wrong_code'),
    ]);
  });
});
