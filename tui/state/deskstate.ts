import { createClient } from '../../src/client/index.js';
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
  now(): number;
}

export type DeskState = ReturnType<typeof openDeskState>;

export const openDeskState = ({ url, token, size, now }: DeskStateOptions) => {
  const end = new AbortController();
  const { signal } = end;
  const held = createTokenHolder(token);
  const client = createClient({ url, fetch: held.fetch, signal });
  const store = createStore(reduce, initialState(url, size, now()), { join: joinStreams });
  const feed = createFeed({ client, store, now });
  const live = createLive({ client, token: held.get, store, feed, signal, now });
  return {
    ...live,
    client,
    store,
    feed,
    now,
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
