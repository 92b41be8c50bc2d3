import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { COMMON_PASSWORDS, passwordFault } from '../../../src/accounts/auth/policy.js';
import { PASSWORD, startApp, type TestApp } from '../../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const COMMON = 'is one of the 10,000 most common passwords';
const OWN = 'is your own username or e-mail address';

describe('faultOfPassword', () => {
  const fault = (password: string) =>
    passwordFault({ password, names: ['Adalove', 'ada.love@example.org'] });

  it('knows the most common ones, however they are written', async () => {
    for (const each of ['password1', 'PASSWORD1', 'iloveyou1', '1q2w3e4r', 'ｐａｓｓｗｏｒｄ１']) {
      expect(await fault(each), each).to.equal(COMMON);
    }
  });

  it('finds an entry in the text of the list, which is written as JSON.stringify would', async () => {
    const file = createRequire(import.meta.url).resolve(COMMON_PASSWORDS);
    const text = await readFile(file, 'utf8');
    expect(JSON.stringify(JSON.parse(text))).to.equal(text.trim());
  });

  it('knows one’s own name and address, with what surrounds them', async () => {
    const own = ['adalove', 'ADALOVE1', '12adalove!', 'adaloveadalove', 'ada.love@example.org'];
    for (const each of [...own, 'Ada.Love99']) expect(await fault(each), each).to.equal(OWN);
  });

  it('takes all others', async () => {
    for (const each of [PASSWORD, 'adalove is my name', '20391857261', 'Grüße an alle']) {
      expect(await fault(each), each).to.be.null();
    }
  });
});

describe('a password that is easily guessed', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
    await app.register('root');
  });
  after(() => app.stop());

  const post = async (path: string, body: object, token?: string) => {
    const reply = await app.call('POST', path, { token, body });
    return [reply.status, reply.body?.details];
  };
  const refused = (path: string, message: string) => [400, [{ path, message }]];

  it('makes no account', async () => {
    const register = (username: string, password: string) =>
      post('/api/auth/register', { username, password });
    expect(await register('mary', 'Password1')).to.equal(refused('password', COMMON));
    expect(await register('maryshelley', 'MaryShelley1')).to.equal(refused('password', OWN));
    expect((await register('mary', PASSWORD))[0]).to.equal(201);
  });

  it('is set by no change and no reset link', async () => {
    const { token } = await app.register('percyshelley');
    const change = { current: PASSWORD, next: 'percyshelley7' };
    expect(await post('/api/auth/password', change, token)).to.equal(refused('next', OWN));
    const { body } = await app.call('POST', '/api/auth/login', {
      body: { username: 'root', password: PASSWORD },
    });
    const me = await app.call('GET', '/api/auth/me', { token });
    const path = `/api/admin/users/${me.body.id}/invite`;
    const { inviteToken } = (await app.call('POST', path, { token: body.token, body: {} })).body;
    const reset = (password: string) => post('/api/auth/reset', { inviteToken, password });
    expect(await reset('iloveyou1')).to.equal(refused('password', COMMON));
    expect((await reset('a good horse battery'))[0]).to.equal(200);
  });

  it('is none of the first account of the settings', async () => {
    const config = { adminUsername: 'root', adminPassword: 'password1' };
    await expect(startApp({ config })).to.reject(
      `ADJUTANT_ADMIN_USERNAME and ADJUTANT_ADMIN_PASSWORD cannot create the first account: the password ${COMMON}`,
    );
  });

  it('logs in where an account has one from before, and in any form', async () => {
    const { db } = app.app.store;
    const { id } = await app.register('older');
    const { hash } = await import('@node-rs/argon2');
    const decomposed = 'Gru\u0308ße an alle';
    const password_hash = await hash(decomposed, {
      memoryCost: 19456,
      timeCost: 2,
      parallelism: 1,
    });
    await db.updateTable('users').set({ password_hash }).where('id', '=', id).execute();
    const login = (password: string) => post('/api/auth/login', { username: 'older', password });
    expect((await login(decomposed))[0]).to.equal(200);
    await post('/api/auth/register', { username: 'newer', password: decomposed });
    for (const password of [decomposed, decomposed.normalize('NFC')]) {
      const [status] = await post('/api/auth/login', { username: 'newer', password });
      expect(status).to.equal(200);
    }
  });
});
