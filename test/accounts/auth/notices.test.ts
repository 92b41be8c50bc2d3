import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, PASSWORD, startApp, type TestApp } from '../../harness/app.js';
import { registerGuarded } from '../../harness/factor.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const DAY = 24 * 3600_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

describe('what a user is told of logins', () => {
  const clock = frozenClock();
  let app: TestApp;
  /** The name of whoever registers in the case. */
  let username: string;
  let cases = 0;

  before(async () => {
    const config = { registration: 'open' as const, trustedProxies: ['127.0.0.1'] };
    app = await startApp({ clock, config });
    await app.register('root');
  });
  beforeEach(() => {
    cases += 1;
    username = `ada${cases}`;
  });
  after(() => app.stop());

  interface From {
    address?: string;
    agent?: string;
  }
  const post = (path: string, body: object, { address = '203.0.113.7', agent = FIREFOX }: From) =>
    app.call('POST', `/api/auth/${path}`, {
      body,
      headers: { 'x-forwarded-for': address, 'user-agent': agent },
    });
  const register = async (): Promise<string> =>
    (await post('register', { username, password: PASSWORD }, {})).body.token;
  const login = (from: From = {}, more: object = {}) =>
    post('login', { username, password: PASSWORD, ...more }, from);
  const told = async (token: string, kind: string): Promise<Record<string, string>[]> => {
    const { body } = await app.call('GET', '/api/notifications', { token });
    return body.notifications.filter((one: { kind: string }) => one.kind === kind);
  };

  it('is nothing of a login from where one registered', async () => {
    const token = await register();
    await login();
    await login({ address: '203.0.113.200' });
    expect(await told(token, 'login.device')).to.equal([]);
  });

  it('is a login from another network, or with another program, once each', async () => {
    const token = await register();
    for (const from of [{ address: '198.51.100.1' }, { address: '198.51.100.2' }])
      await login(from);
    await login({ agent: 'curl/8.0 https://evil.example' });
    await login({ address: '2001:db8:1:2::1' });
    await login({ address: '2001:db8:1:2:ffff::1' });
    const bodies = (await told(token, 'login.device')).map(({ body = '' }) =>
      body.split('. ').slice(0, 2),
    );
    expect(bodies.sort()).to.equal([
      ['Address: 198.51.100.1', 'Program: Firefox on Linux'],
      ['Address: 2001:db8:1:2::1', 'Program: Firefox on Linux'],
      ['Address: 203.0.113.7', 'Program: curl'],
    ]);
  });

  it('is the same login again after thirty days, not before', async () => {
    await register();
    const from = { address: '198.51.100.1' };
    await login(from);
    clock.forward(30 * DAY - 1);
    const { token: later } = (await login(from)).body;
    expect((await app.call('GET', '/api/notifications', { token: later })).status).to.equal(200);
    const counted = async () => (await told(later, 'login.device')).length;
    expect(await counted()).to.equal(1);
    clock.forward(1);
    await login(from);
    expect(await counted()).to.equal(2);
  });

  it('is one message of two logins at once', async () => {
    const token = await register();
    const from = { address: '198.51.100.1' };
    await Promise.all([login(from), login(from), login(from)]);
    expect((await told(token, 'login.device')).length).to.equal(1);
  });

  it('is nothing of a device that is known, wherever it is', async () => {
    const ada = await registerGuarded(app, clock, username);
    clock.forward(60_000);
    const first = await login({}, { totpCode: await ada.code() });
    const { deviceToken } = first.body;
    expect((await told(ada.token, 'login.device')).length).to.equal(1);
    clock.forward(60_000);
    const from = { address: '198.51.100.1', agent: 'another' };
    await login(from, { totpCode: await ada.code(), deviceToken });
    expect((await told(ada.token, 'login.device')).length).to.equal(1);
    clock.forward(60_000);
    await login(from, { totpCode: await ada.code(), deviceToken: 'x' });
    expect((await told(ada.token, 'login.device')).length).to.equal(2);
  });

  it('is nothing of a login that failed', async () => {
    const token = await register();
    await login({ address: '198.51.100.1' }, { password: 'wrong password' });
    expect(await told(token, 'login.device')).to.equal([]);
  });

  it('is a burst of wrong logins, once a day', async () => {
    const token = await register();
    const fail = (n: number) =>
      login({ address: `198.51.100.${n}` }, { password: 'wrong password' });
    for (let n = 0; n < 9; n++) await fail(n);
    expect(await told(token, 'login.failures')).to.equal([]);
    await Promise.all([10, 11, 12].map(fail));
    const [first, ...rest] = await told(token, 'login.failures');
    expect([first?.title, rest]).to.equal(['10 failed logins to your account within an hour', []]);
  });
});
