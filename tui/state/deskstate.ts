import { createClient } from '../../src/client/index.js';
import type { Clock } from '../../src/kernel/clock.js';
import type { Size } from '../parts/row.js';
import { createFeed } from './feed.js';
import { createLive } from './live.js';
import { createTokenHolder, type LoginInput, type LoginOutcome, logInToDaemon } from './login.js';
import { initialState, reduce } from './state.js';
import { createStore } from './store.js';
import { joinStreams } from './streams.js';

export interface DeskStateOptions {
  url: string;
  token: string | undefined;
  size: Size;
  clock: Clock;
}

export type DeskState = ReturnType<typeof openDeskState>;

export const openDeskState = ({ url, token, size, clock }: DeskStateOptions) => {
  const end = new AbortController();
  const { signal } = end;
  const held = createTokenHolder(token);
  const client = createClient({ url, fetch: held.fetch, signal, clock });
  const initial = initialState(url, size, clock.now());
  const store = createStore(reduce, initial, { clock, join: joinStreams });
  const feed = createFeed({ client, store, clock });
  const live = createLive({ client, token: held.get, store, feed, signal, clock });
  return {
    ...live,
    client,
    store,
    feed,
    clock,
    token: held.get,
    logIn: async (given: LoginInput): Promise<LoginOutcome> => {
      const outcome = await logInToDaemon(client, held, given);
      if (outcome.is === 'in') live.tryNow();
      return outcome;
    },
    close: (): void => {
      end.abort();
      feed.close();
      store.close();
    },
  };
};
