import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { measureInTurn } from '../../harness/alternate.js';
import { frozenClock, PASSWORD, startApp, type TestApp } from '../../harness/app.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

describe('login', () => {
  const clock = frozenClock();
  let app: TestApp;
  let cases = 0;
  /** The name of an account that is made for the case, in lower case. */
  let ada: string;
  /** A name that nobody has, and no case before has tried. */
  let nobody: string;
  const login = (body: object, headers: Record<string, string> = {}) =>
    app.call('POST', '/api/auth/login', { body, headers });
  const fail = (username: string, headers?: Record<string, string>) =>
    login({ username, password: 'wrong password' }, headers);
  const from = (address: string) => ({ 'x-forwarded-for': address });

  const capital = () => `A${ada.slice(1)}`;

  before(async () => {
    const config = { registration: 'open' as const, trustedProxies: ['127.0.0.1'] };
    app = await startApp({ clock, config });
    await app.register('root');
  });
  beforeEach(async () => {
    cases += 1;
    // Tries are counted by the minute: each case begins with a whole one, a minute or more later.
    clock.forward(120_000 - (clock.now() % 60_000));
    ada = `ada${cases}`;
    nobody = `nobody${cases}`;
    const body = { username: capital(), email: `${ada}@example.org`, password: PASSWORD };
    expect((await app.call('POST', '/api/auth/register', { body })).status).to.equal(201);
  });
  after(() => app.stop());

  it('takes as long for an unknown name as for a wrong password', async () => {
    const [known, unknown] = await measureInTurn([ada, nobody], (name, n) =>
      fail(name, from(`192.0.2.${n}`)),
    );
    expect((unknown ?? 0) / (known ?? 0)).to.be.within(0.5, 2);
  });
});
