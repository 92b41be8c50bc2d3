import {
  type FrozenClock,
  frozenClock,
  type Reply,
  startApp,
  type TestApp,
} from '../../harness/app.js';
import { addPasskey, openBrowser, openPerson, type Person, type Profiles } from './browser.js';

const AUTHENTICATE = '/api/auth/passkey/authenticate';

export interface Member {
  id: string;
  token: string;
  person: Person;
}

export interface Stage {
  /** Spoken to under the name that passkeys belong to. */
  app: TestApp;
  clock: FrozenClock;
  /** The first half of a login, and the second. */
  begin(body?: object): Promise<{ options: unknown; challengeId: string }>;
  end(body: object): Promise<Reply>;
  /** Both, with the passkey that somebody's browser has. */
  logIn(person: Person): Promise<Reply>;
  /** Somebody with an account and, added as a person does it, a passkey. */
  enter(username: string): Promise<Member>;
  close(): Promise<void>;
}

/** The daemon on a clock that stands still, and people with browsers. */
export const openStage = async (): Promise<Stage> => {
  const clock = frozenClock();
  const app = await startApp({ clock });
  app.url = app.url.replace('127.0.0.1', 'localhost');
  let browser: Profiles | null = null;
  const begin: Stage['begin'] = async (body = {}) =>
    (await app.call('POST', AUTHENTICATE, { body })).body;
  const end: Stage['end'] = (body) => app.call('POST', AUTHENTICATE, { body });
  return {
    app,
    clock,
    begin,
    end,
    logIn: async (person) => {
      const { options, challengeId } = await begin();
      return end({ challengeId, response: await person.answer(options) });
    },
    enter: async (username) => {
      const account = await app.register(username);
      browser ??= await openBrowser();
      const person = await openPerson(browser, app.url);
      await addPasskey(person, username);
      return { ...account, person };
    },
    close: async () => {
      await browser?.close();
      await app.stop();
    },
  };
};
