import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { generate } from 'otplib';
import { frozenClock, PASSWORD, startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The digits of a script, by its zero. */
const inDigits = (zero: string) => (code: string) =>
  code.replace(/\d/g, (digit) => String.fromCodePoint((zero.codePointAt(0) ?? 0) + Number(digit)));

const SPELLINGS: ((code: string) => string)[] = [
  (code) => `${code.slice(0, 3)}\u00a0${code.slice(3)}`,
  (code) => `${code.slice(0, 3)}-${code.slice(3)}`,
  (code) => `\u200e${code}\u200b`,
  inDigits('０'),
  inDigits('٠'),
  inDigits('۰'),
  inDigits('०'),
];

describe('a code of an authenticator app', () => {
  const clock = frozenClock();
  const app = openForSuite(lab, () => startApp({ clock }));

  const codeOf = (secret: string) => generate({ secret, epoch: Math.floor(clock.now() / 1000) });

  it('is taken as apps show it and keyboards write it', async () => {
    const { token } = await app.register('müller');
    const { body } = await app.call('POST', '/api/auth/totp/setup', { token, body: {} });
    expect(body.otpauthUrl).to.equal(
      `otpauth://totp/Adjutant:m%C3%BCller?secret=${body.secret}&issuer=Adjutant`,
    );
    const code = inDigits('٠')(await codeOf(body.secret));
    const enabled = await app.call('POST', '/api/auth/totp/enable', { token, body: { code } });
    expect(enabled.status).to.equal(200);
    for (const [at, spell] of SPELLINGS.entries()) {
      clock.forward(60_000);
      const totpCode = spell(await codeOf(body.secret));
      const login = { username: 'müller', password: PASSWORD, totpCode };
      const { status } = await app.call('POST', '/api/auth/login', { body: login });
      expect([at, status]).to.equal([at, 200]);
    }
  });

  it('is refused with other signs in it', async () => {
    const { token } = await app.register('ada');
    const { secret } = (await app.call('POST', '/api/auth/totp/setup', { token, body: {} })).body;
    const right = await codeOf(secret);
    for (const code of [`+${right}`, `${right}e0`, `0x${right.slice(2)}`, right.slice(1)]) {
      const { status } = await app.call('POST', '/api/auth/totp/enable', { token, body: { code } });
      expect([code, status]).to.equal([code, 401]);
    }
  });

  it('belongs to an account whose name divides no address', async () => {
    const body = { password: PASSWORD };
    for (const username of ['ada:home', 'ada lovelace', 'a+b', 'a?issuer=x']) {
      const { status } = await app.call('POST', '/api/auth/register', {
        body: { ...body, username },
      });
      expect([username, status]).to.equal([username, 400]);
    }
  });
});
