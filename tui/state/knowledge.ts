import { type Client, createClient } from '../../src/client/index.js';
import type { Size } from '../parts/row.js';
import { createFeed, type Feed } from './feed.js';
import { createLive, type Live } from './live.js';
import { type HeldToken, holdToken } from './login.js';
import { type DeskStore, initialState, reduce } from './state.js';
import { createStore } from './store.js';
import { joinStreams } from './streams.js';

/** The state of a desk and its connection to the daemon, in whatever way the desk shows them. */
export interface Knowledge {
  client: Client;
  held: HeldToken;
  store: DeskStore;
  feed: Feed;
  live: Live;
  /** Ends all requests and the connection. */
  close(): void;
}

export interface KnowledgeOptions {
  url: string;
  token: string | undefined;
  size: Size;
  now(): number;
}

export const openKnowledge = ({ url, token, size, now }: KnowledgeOptions): Knowledge => {
  const end = new AbortController();
  const { signal } = end;
  const held = holdToken(token);
  const client = createClient({ url, fetch: held.fetch, signal });
  const store = createStore(reduce, initialState(url, size, now()), { join: joinStreams });
  const feed = createFeed({ client, store, now });
  const live = createLive({ client, token: held.get, store, feed, signal, now });
  const close = (): void => {
    end.abort();
    feed.close();
    store.close();
  };
  return { client, held, store, feed, live, close };
};
