import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { listPlainFiles } from '../../../src/system/backup/home.js';
import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  setupCodeOf,
  startApp,
  type TestApp,
} from '../../harness/app.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const PUBLIC = { publicUrl: 'https://hooks.example.org' };
const WRONG = '0000-0000-0000-0000-0000-0000-0000-0000';

describe('a setup code', () => {
  let app: TestApp;
  let clock: FrozenClock;
  beforeEach(async () => {
    clock = frozenClock();
    app = await startApp({ clock, config: PUBLIC });
  });
  afterEach(() => app.stop());

  const file = () => join(app.home, 'setup-code');
  const kept = () => readFileSync(file(), 'utf8').trim();
  const register = async (username: string, more: object = {}, address?: string) => {
    const { status, body, headers } = await app.call('POST', '/api/auth/register', {
      body: { username, password: PASSWORD, ...more },
      ...(address !== undefined && { headers: { 'x-forwarded-for': address } }),
    });
    const code = body.code ?? body.user?.role;
    return { status, code, retryAfter: headers['retry-after'] };
  };
  const answered = async (...given: Parameters<typeof register>) => {
    const { status, code } = await register(...given);
    return [status, code];
  };

  it('makes the first account, the admin, once', async () => {
    const code = kept();
    expect(code).to.match(/^([0-9a-f]{4}-){7}[0-9a-f]{4}$/);
    expect(app.app.report.setupCode).to.equal({ code, file: file() });
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(await answered('ada')).to.equal([403, 'setup_code_required']);
    expect(await answered('ada', { setupCode: code })).to.equal([201, 'admin']);
    expect(existsSync(file())).to.be.false();
    expect(await answered('eve', { setupCode: code })).to.equal([403, 'setup_code_refused']);
    expect(await answered('eve')).to.equal([403, 'invite_required']);
  });

  it('is taken however it is typed, and is not spent by what is refused', async () => {
    const code = kept();
    expect((await register('a', { setupCode: code })).status).to.equal(400);
    const typed = ` ${code.toUpperCase().replaceAll('-', '')}`;
    expect(await answered('ada', { setupCode: typed })).to.equal([201, 'admin']);
  });

  it('makes one account where ten come with it at once', async () => {
    const setupCode = kept();
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) => answered(`person${n}`, { setupCode })),
    );
    expect(all.filter(([status]) => status === 201)).to.equal([[201, 'admin']]);
    expect(all.filter(([status]) => status !== 201 && status !== 403 && status !== 429)).to.equal(
      [],
    );
    const { db } = app.app.store;
    expect((await db.selectFrom('users').select('role').execute()).length).to.equal(1);
  });

  it('may be given wrong five times a minute, from everywhere together', async () => {
    const setupCode = kept();
    const guess = (n: number) => register('eve', { setupCode: WRONG }, `203.0.113.${n}`);
    const guesses = await Promise.all(Array.from({ length: 20 }, (_, n) => guess(n)));
    const refused = guesses.filter(({ code }) => code === 'setup_code_refused');
    const held = guesses.filter(({ code }) => code === 'too_many_setup_codes');
    expect([refused.length, held.length]).to.equal([5, 15]);
    expect(held[0]).to.equal({ status: 429, code: 'too_many_setup_codes', retryAfter: '60' });
    expect(await answered('ada', { setupCode })).to.equal([429, 'too_many_setup_codes']);
    clock.forward(60_000);
    expect(await answered('ada', { setupCode })).to.equal([201, 'admin']);
  });

  it('is made anew at each start, and is gone at the next where there is an account', async () => {
    const before = kept();
    await app.restart();
    const after = kept();
    expect(after === before).to.be.false();
    expect(await answered('ada', { setupCode: before })).to.equal([403, 'setup_code_refused']);
    expect(await answered('ada', { setupCode: after })).to.equal([201, 'admin']);
    await app.restart();
    expect([existsSync(file()), app.app.report.setupCode]).to.equal([false, null]);
  });

  it('stands in no log and in no backup', () => {
    const code = kept();
    const lines = JSON.stringify(app.recent.after(null));
    expect(lines).to.not.contain(code);
    expect(listPlainFiles(app.home).files.filter(({ path }) => path.startsWith('setup'))).to.equal(
      [],
    );
  });
});

describe('the first account', () => {
  const codeWith = async (config: Parameters<typeof startApp>[0]) => {
    const app = await startApp(config);
    const isKept = existsSync(join(app.home, 'setup-code'));
    const isShown = app.app.report.setupCode !== null;
    await app.stop();
    return [isKept, isShown];
  };

  it('takes a code wherever the daemon is not purely local, and where nobody may register', async () => {
    const registration = 'open' as const;
    for (const config of [
      { ...PUBLIC, registration },
      { host: '0.0.0.0', registration },
      { trustedProxies: ['127.0.0.1'], registration },
      { host: '0.0.0.0' },
      { trustedProxies: ['127.0.0.1'] },
      { registration: 'invite' as const },
      { registration: 'closed' as const },
    ]) {
      expect(await codeWith({ config }), JSON.stringify(config)).to.equal([true, true]);
    }
  });

  it('is not made by a stranger where registration is open', async () => {
    const config = { trustedProxies: ['127.0.0.1'], registration: 'open' as const };
    const app = await startApp({ config });
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const register = async (username: string, more: object = {}) => {
      const body = { username, password: PASSWORD, ...more };
      const reply = await app.call('POST', '/api/auth/register', { headers, body });
      return [reply.status, reply.body.code ?? reply.body.user.role];
    };
    expect(await register('eve')).to.equal([403, 'setup_code_required']);
    expect(await register('ada', setupCodeOf(app.home))).to.equal([201, 'admin']);
    expect(await register('eve')).to.equal([201, 'user']);
    await app.stop();
  });

  it('takes none where it can be registered without, or is made from the settings', async () => {
    const root = { adminUsername: 'root', adminPassword: PASSWORD };
    for (const config of [{}, { registration: 'open' as const }, { ...PUBLIC, ...root }]) {
      expect(await codeWith({ config }), JSON.stringify(config)).to.equal([false, false]);
    }
  });
});
