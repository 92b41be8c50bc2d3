import { expect } from '@hapi/code';
import { frozenClock, PASSWORD, startApp, type TestApp } from '../../harness/app.js';

/** Logs in at a daemon that has a new account for each case. */
export const createLogins = () => {
  const clock = frozenClock();
  let cases = 0;
  const login = (body: object, headers: Record<string, string> = {}) =>
    logins.app.call('POST', '/api/auth/login', { body, headers });
  const logins = {
    clock,
    app: undefined as unknown as TestApp,
    /** Name of the account that is made for the case, in lower case. */
    ada: '',
    /** A name that nobody has, and no case before has tried. */
    nobody: '',
    login,
    fail: (username: string, headers?: Record<string, string>) =>
      login({ username, password: 'wrong password' }, headers),
    from: (address: string) => ({ 'x-forwarded-for': address }),
    capital: () => `A${logins.ada.slice(1)}`,
    open: async (): Promise<void> => {
      const config = { registration: 'open' as const, trustedProxies: ['127.0.0.1'] };
      logins.app = await startApp({ clock, config });
      await logins.app.register('root');
    },
    addAccount: async (): Promise<void> => {
      cases += 1;
      // Tries are counted by the minute: each case begins with a whole one, a minute or more later.
      clock.forward(120_000 - (clock.now() % 60_000));
      logins.ada = `ada${cases}`;
      logins.nobody = `nobody${cases}`;
      const email = `${logins.ada}@example.org`;
      const body = { username: logins.capital(), email, password: PASSWORD };
      const registered = await logins.app.call('POST', '/api/auth/register', { body });
      expect(registered.status).to.equal(201);
    },
  };
  return logins;
};
