import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  type Reply,
  startApp,
  type TestApp,
  until,
  untilMatches,
} from '../../harness/app.js';
import { registerGuarded } from '../../harness/factor.js';
import { runLoopTurns } from '../../harness/turns.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

/** A tunnel that does not tell whom it brings; that it comes up is not needed for that. */
const SSH = { provider: 'ssh', target: 'nobody@127.0.0.1', sshPort: 9, remotePort: 8305 };

describe('logins from a shared address', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let token: string;

  beforeEach(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    token = (await app.register('ada')).token;
  });
  afterEach(() => app.stop());

  const share = async (): Promise<void> => {
    const publicUrl = 'https://hooks.example.org';
    const { status, text } = await app.call('PUT', '/api/tunnel', {
      ...{ token, body: { ...SSH, publicUrl } },
    });
    if (status !== 200) throw new Error(text);
    await app.call('POST', '/api/tunnel/start', { token });
  };
  const login = (body: object) => app.call('POST', '/api/auth/login', { body });
  const guess = (username = 'ada') => login({ username, password: 'wrong password' });
  /** Resolves when so many failures of an account are stored, whose replies wait for their second. */
  const counted = (account: string, count: number) =>
    until(
      () => {
        const failures = app.app.store.db.selectFrom('login_failures').select('count');
        return failures.where('account', '=', account).execute();
      },
      (rows) => rows.reduce((sum, row) => sum + row.count, 0) === count,
    );
  /** Lets time pass until all are answered. */
  const answered = async (guesses: ReturnType<typeof guess>[]) => {
    let isOver = false;
    const all = Promise.all(guesses).finally(() => {
      isOver = true;
    });
    await until(
      async () => {
        clock.forward(2000);
        return isOver;
      },
      (is) => is,
    );
    return all;
  };

  it('are judged one in two seconds, five wait, and the rest is refused', async () => {
    await share();
    const since = clock.now();
    const judged: number[] = [];
    const refused: Reply[] = [];
    const guesses = Array.from({ length: 20 }, async () => {
      const reply = await guess();
      if (reply.status === 401) judged.push(clock.now() - since);
      else refused.push(reply);
    });
    await untilMatches(async () => refused.length, 14);
    for (let nth = 1; nth <= 6; nth++) {
      await counted('ada', nth);
      clock.forward(1000);
      await until(
        async () => judged.length,
        (count) => count === nth,
      );
      clock.forward(1000);
    }
    await Promise.all(guesses);
    expect(judged).to.equal([1000, 3000, 5000, 7000, 9000, 11_000]);
    expect(refused.map(({ body, headers }) => [body.code, headers['retry-after']])[0]).to.equal([
      'too_many_logins',
      '12',
    ]);
  });

  it('shut nobody out, however many were wrong', async () => {
    await share();
    const { db } = app.app.store;
    const failed = { account: 'ada', count: 35, last_at: '2026-03-01T12:00:00.000Z' };
    await answered([guess()]);
    await db.updateTable('login_failures').set(failed).execute();
    const { status } = await login({ username: 'ada', password: PASSWORD });
    expect(status).to.equal(200);
  });

  it('are of each account apart', async () => {
    await share();
    const { db } = app.app.store;
    const all = Promise.all(['ada', 'bob', 'carol'].map(guess));
    // All are judged before any time has passed.
    await until(
      () => db.selectFrom('login_failures').select('account').execute(),
      ({ length }) => length === 3,
    );
    clock.forward(1000);
    expect((await all).map(({ status }) => status)).to.equal([401, 401, 401]);
  });

  it('pass the queue with the token of a device', async () => {
    const bob = await registerGuarded(app, clock, 'bob');
    const credentials = { username: 'bob', password: PASSWORD };
    const first = await login({ ...credentials, totpCode: await bob.code() });
    const { deviceToken } = first.body;
    await share();
    const guesses = Array.from({ length: 12 }, () => guess('bob'));
    const failures = () => app.app.store.db.selectFrom('login_failures').select('count').execute();
    await until(failures, (rows) => rows.length > 0);
    clock.forward(60_000);
    const { status } = await login({
      ...{ ...credentials, totpCode: await bob.code() },
      deviceToken,
    });
    expect(status).to.equal(200);
    await answered(guesses);
  });

  it('pass the queue with the token of a device where the account has no second factor', async () => {
    const credentials = { username: 'ada', password: PASSWORD };
    const { deviceToken } = (await login(credentials)).body;
    await share();
    const guesses = Array.from({ length: 12 }, () => guess());
    const failures = () => app.app.store.db.selectFrom('login_failures').select('count').execute();
    await until(failures, (rows) => rows.length > 0);
    expect(await login({ ...credentials, deviceToken })).to.include({ status: 200 });
    await answered(guesses);
  });

  it('of names that nobody has keep out nobody who has one, and are answered alike', async () => {
    const credentials = { username: 'ada', password: PASSWORD };
    const { deviceToken } = (await login(credentials)).body;
    await app.register('bob');
    await share();
    const anonymousLimit = (name: string) =>
      Array.from({ length: 100 }, (_, n) => guess(`${name}${n}`));
    const before = anonymousLimit('before');
    const [known, unknown] = [login({ ...credentials, deviceToken }), login(credentials)];
    const all = [guess('bob'), ...before, ...anonymousLimit('after')];
    expect((await Promise.all([known, unknown])).map(({ status }) => status)).to.equal([200, 200]);
    const answers = (await answered(all)).map(({ status, body }) => `${status} ${body.message}`);
    expect([...new Set(answers)]).to.equal([answers[0]]);
  });

  it('take a second where they are wrong, whether somebody has the name or nobody', async () => {
    await share();
    for (const username of ['ada', 'nobody']) {
      let isAnswered = false;
      const reply = guess(username).finally(() => {
        isAnswered = true;
      });
      await counted(username, 1);
      clock.forward(999);
      await runLoopTurns();
      expect(isAnswered).to.be.false();
      clock.forward(1);
      expect((await reply).status).to.equal(401);
      clock.forward(1000);
    }
  });

  it('count nothing against those who are logged in', async () => {
    await share();
    await answered([guess()]);
    await app.app.store.db.updateTable('login_failures').set({ count: 35 }).execute();
    const next = 'another good password';
    const body = { current: PASSWORD, next };
    const [reply] = await answered([app.call('POST', '/api/auth/password', { token, body })]);
    expect(reply?.status).to.equal(200);
  });
});
