import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, type TestApp } from '../../harness/app.js';
import { runLoopTurns } from '../../harness/turns.js';
import { createLogins } from './logins.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

describe('login', () => {
  const logins = createLogins();
  const { clock, login, fail, from, capital } = logins;
  const iso = (ms: number) => new Date(ms).toISOString();

  before(() => logins.open());
  beforeEach(() => logins.addAccount());
  after(() => logins.app.stop());

  it('takes the name or the e-mail address, in any case', async () => {
    for (const who of [
      { username: logins.ada },
      { username: logins.ada.toUpperCase() },
      { username: `${capital()}@Example.org` },
      { email: `${logins.ada}@example.org` },
    ]) {
      const { status, body } = await login({ ...who, password: PASSWORD });
      expect({ status, name: body.user?.username }).to.equal({ status: 200, name: capital() });
    }
  });

  it('lasts twelve hours', async () => {
    const { body } = await login({ username: logins.ada, password: PASSWORD });
    expect(body.expiresAt).to.equal(iso(clock.now() + 12 * 3600_000));
    const me = () => logins.app.call('GET', '/api/auth/me', { token: body.token });
    clock.forward(12 * 3600_000 - 1);
    expect((await me()).status).to.equal(200);
    clock.forward(1);
    expect((await me()).status).to.equal(401);
  });

  it('answers alike to a wrong password, an unknown name and a disabled account', async () => {
    await logins.app.call('POST', '/api/auth/register', {
      body: { username: 'bob', password: PASSWORD },
    });
    await disable(logins.app, 'bob');
    const replies = [
      await fail(logins.ada),
      await fail(logins.nobody),
      await login({ username: 'bob', password: PASSWORD }),
    ];
    for (const { status, body } of replies) {
      expect({ status, body: { ...body, requestId: '' } }).to.equal({
        status: 401,
        body: {
          statusCode: 401,
          error: 'Unauthorized',
          message: 'Wrong username or password',
          requestId: '',
        },
      });
    }
  });

  it('lets an account and address wait longer after each failure, also after a restart', async () => {
    for (let n = 0; n < 5; n++) expect((await fail(logins.ada)).status).to.equal(401);
    const refused = await login({ username: logins.ada, password: PASSWORD });
    expect(refused.status).to.equal(429);
    expect(refused.body.code).to.equal('too_many_logins');
    expect(refused.headers['retry-after']).to.equal('1');

    clock.forward(1000);
    expect((await fail(logins.ada)).status).to.equal(401);
    await logins.app.restart();
    const again = await login({ username: logins.ada, password: PASSWORD });
    expect([again.status, again.headers['retry-after']]).to.equal([429, '2']);

    clock.forward(2000);
    expect((await login({ username: logins.ada, password: PASSWORD })).status).to.equal(200);
    expect((await fail(logins.ada)).status).to.equal(401);
    expect((await login({ username: logins.ada, password: PASSWORD })).status).to.equal(200);
  });

  it('never shuts the owner out who comes from another address', async () => {
    for (let n = 0; n < 10; n++) await fail(logins.ada, from(`198.51.100.${n}`));
    let isAnswered = false;
    const owner = login({ username: logins.ada, password: PASSWORD }, from('203.0.113.1')).finally(
      () => {
        isAnswered = true;
      },
    );
    await clock.waiting(2000);
    clock.forward(1999);
    await runLoopTurns();
    expect(isAnswered).to.be.false();
    clock.forward(1);
    expect((await owner).status).to.equal(200);
  });
});

/** As an admin will be able to. */
const disable = async ({ app: { store } }: TestApp, name: string): Promise<void> => {
  await store.db
    .updateTable('users')
    .set({ disabled_at: '2026-03-01T12:00:00.000Z' })
    .where('username_key', '=', name)
    .execute();
};
