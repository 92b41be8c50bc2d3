import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { createFeed } from '../../tui/state/feed.js';
import { reduce } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { known, NOW } from './known.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('feed', () => {
  it('takes it for no failure of the program that the desk was left while it read', async () => {
    const end = new AbortController();
    let ask = (): void => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const fetch = (_: unknown, init?: RequestInit): Promise<Response> =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        ask();
      });
    const client = createClient({ url: 'http://127.0.0.1:1', fetch, signal: end.signal });
    const store = createStore(reduce, known());
    const feed = createFeed({ client, store, now: () => NOW });
    const reading = feed.reload('hooks');
    await asked;
    end.abort();
    await reading;
    feed.close();
    store.close();
    expect(store.get().lists.hooks.loadedAt).to.be.null();
  });
});
