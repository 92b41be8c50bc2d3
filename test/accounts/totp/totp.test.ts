import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { generate } from 'otplib';
import { matchTotp } from '../../../src/kernel/totp.js';
import { frozenClock, PASSWORD, startApp } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('totp', () => {
  const clock = frozenClock();
  const test = openForSuite(lab, () => startApp({ clock }));

  const post = (path: string, token?: string, body: unknown = {}) =>
    test.call('POST', `/api/auth/${path}`, { token, body });
  const codeOf = (secret: string) => generate({ secret, epoch: Math.floor(clock.now() / 1000) });
  const login = (username: string, totpCode?: string) =>
    post('login', undefined, { username, password: PASSWORD, ...(totpCode && { totpCode }) });

  const enabled = async (username: string) => {
    const { token } = await test.register(username);
    const { body } = await post('totp/setup', token);
    const code = await codeOf(body.secret);
    const recovery = (await post('totp/enable', token, { code })).body.recoveryCodes;
    return { token, secret: body.secret as string, recovery: recovery as string[], code };
  };

  it('shows a secret, its address and a QR code that is a picture', async () => {
    const { token } = await test.register('shown');
    const { status, body } = await post('totp/setup', token);
    expect(status).to.equal(200);
    expect(body.secret).to.match(/^[A-Z2-7]{32}$/);
    expect(body.otpauthUrl).to.equal(
      `otpauth://totp/Adjutant:shown?secret=${body.secret}&issuer=Adjutant`,
    );
    expect(body.qrSvg).to.match(/^<svg [\s\S]*<\/svg>\s*$/);
  });

  it('asks for no code before one was seen', async () => {
    const { token } = await test.register('early');
    await post('totp/setup', token);
    expect((await login('early')).status).to.equal(200);
  });

  it('enables with a code, and gives ten recovery codes', async () => {
    const { token, recovery } = await enabled('able');
    expect(recovery.length).to.equal(10);
    expect(new Set(recovery).size).to.equal(10);
    const me = await test.call('GET', '/api/auth/me', { token });
    expect(me.body.totpEnabled).to.be.true();
  });

  it('asks a login for a code, takes a right one, and takes it once', async () => {
    const { secret } = await enabled('once');
    const asked = await login('once');
    expect({ status: asked.status, code: asked.body.code }).to.equal({
      status: 401,
      code: 'totp_required',
    });
    const code = await codeOf(secret);
    expect((await login('once', code)).status).to.equal(200);
    const again = await login('once', code);
    expect({ status: again.status, code: again.body.code }).to.equal({
      status: 401,
      code: 'wrong_code',
    });
  });

  it('lets one of two logins in that bring the same code at once', async () => {
    const { secret } = await enabled('twice');
    const code = await codeOf(secret);
    const both = await Promise.all([login('twice', code), login('twice', code)]);
    expect(both.map(({ status }) => status).sort()).to.equal([200, 401]);
  });

  it('takes a recovery code once in place of a code', async () => {
    const { recovery } = await enabled('lost');
    const [code = ''] = recovery;
    expect((await login('lost', code.toUpperCase())).status).to.equal(200);
    expect((await login('lost', code)).status).to.equal(401);
    const { data } = await test.app.store.db
      .selectFrom('audit')
      .select('data')
      .orderBy('number', 'desc')
      .executeTakeFirstOrThrow();
    expect(data).to.equal('{"by":"password","recoveryCode":true}');
  });

  it('keeps no recovery code and no secret as text', async () => {
    const { recovery, secret } = await enabled('kept');
    const rows = await test.app.store.db.selectFrom('recovery_codes').selectAll().execute();
    const factors = await test.app.store.db.selectFrom('totp').selectAll().execute();
    const kept = JSON.stringify([rows, factors]);
    expect([...recovery, secret].filter((one) => kept.includes(one))).to.equal([]);
  });

  it('verifies a code once, and refuses a wrong one', async () => {
    const { token, secret } = await enabled('check');
    clock.forward(30_000);
    const code = await codeOf(secret);
    const right = await post('totp/verify', token, { code });
    expect({ status: right.status, body: right.body }).to.equal({
      status: 200,
      body: { valid: true },
    });
    expect((await post('totp/verify', token, { code })).status).to.equal(401);
    for (const bad of ['12345', 'abcdef', '1234567', ' ']) {
      expect((await post('totp/verify', token, { code: bad })).status).to.equal(401);
    }
  });

  it('disables with a code, the password being needed later than ten minutes after login', async () => {
    const { token, secret } = await enabled('off');
    clock.forward(11 * 60_000);
    const bare = await post('totp/disable', token, { code: await codeOf(secret) });
    expect({ status: bare.status, code: bare.body.code }).to.equal({
      status: 403,
      code: 'password_required',
    });
    const body = { password: PASSWORD, code: await codeOf(secret) };
    expect((await post('totp/disable', token, body)).status).to.equal(204);
    expect((await login('off')).status).to.equal(200);
  });

  it('makes new recovery codes, and those before serve no more', async () => {
    const { token, recovery } = await enabled('renewed');
    const left = async () =>
      (await test.call('GET', '/api/auth/me', { token })).body.recoveryCodesLeft;
    expect(await left()).to.equal(10);
    expect((await login('renewed', recovery[0])).status).to.equal(200);
    expect(await left()).to.equal(9);
    const { status, body } = await post('totp/recovery-codes', token);
    expect([status, body.recoveryCodes.length, await left()]).to.equal([200, 10, 10]);
    expect(body.recoveryCodes.filter((code: string) => recovery.includes(code))).to.equal([]);
    expect((await login('renewed', recovery[1])).body.code).to.equal('wrong_code');
    expect((await login('renewed', body.recoveryCodes[0])).status).to.equal(200);
    const notices = await test.call('GET', '/api/notifications', { token });
    expect(notices.body.notifications[0].kind).to.equal('recovery_codes.made');
  });

  it('makes new recovery codes with the password, where codes are required', async () => {
    const bare = (await test.register('bare')).token;
    const none = await post('totp/recovery-codes', bare);
    expect([none.status, none.body.code]).to.equal([409, 'totp_not_enabled']);
    const { token } = await enabled('stale');
    clock.forward(11 * 60_000);
    const late = await post('totp/recovery-codes', token);
    expect([late.status, late.body.code]).to.equal([403, 'password_required']);
    expect((await post('totp/recovery-codes', token, { password: PASSWORD })).status).to.equal(200);
  });

  it('takes recovery codes as people type them', async () => {
    const { recovery } = await enabled('typist');
    const typed = [
      (code: string) => code.replaceAll('-', ''),
      (code: string) => code.replaceAll('-', ' '),
      (code: string) => ` ${code.toUpperCase()} `,
      (code: string) => code.replaceAll('-', '–'),
    ];
    const answers: number[] = [];
    for (const [at, type] of typed.entries()) {
      answers.push((await login('typist', type(recovery[at] ?? ''))).status);
    }
    expect(answers).to.equal([200, 200, 200, 200]);
    const again = (recovery[0] ?? '').replaceAll('-', '');
    expect((await login('typist', again)).body.code).to.equal('wrong_code');
  });

  it('takes a code as apps show it, with a blank in the middle', async () => {
    const { secret } = await enabled('blank');
    clock.forward(60_000);
    const code = await codeOf(secret);
    expect((await login('blank', `${code.slice(0, 3)} ${code.slice(3)}`)).status).to.equal(200);
  });

  it('does not replace a secret that counts', async () => {
    const { token } = await enabled('firm');
    expect((await post('totp/setup', token)).status).to.equal(409);
    expect((await post('totp/enable', token, { code: '123456' })).status).to.equal(409);
  });

  it('bounds the tries', async () => {
    const { token } = await enabled('tries');
    const answers: number[] = [];
    for (let n = 0; n < 12; n++) {
      answers.push((await post('totp/verify', token, { code: '000000' })).status);
    }
    expect(answers.slice(0, 5)).to.equal([401, 401, 401, 401, 401]);
    expect(answers.at(-1)).to.equal(429);
  });
});

/** RFC 6238, appendix B, SHA-1: the last six of the eight digits. */
const VECTORS: [number, string][] = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
];

describe('matchTotp', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

  it('knows the codes of RFC 6238', async () => {
    const steps = await Promise.all(
      VECTORS.map(([seconds, code]) =>
        matchTotp(secret, code, { now: seconds * 1000, after: null }),
      ),
    );
    expect(steps).to.equal(VECTORS.map(([seconds]) => Math.floor(seconds / 30)));
  });

  it('allows one step off and no more', async () => {
    const at = (seconds: number) =>
      matchTotp(secret, '287082', { now: seconds * 1000, after: null });
    expect([await at(89), await at(59 - 30), await at(121)]).to.equal([1, 1, null]);
  });
});
