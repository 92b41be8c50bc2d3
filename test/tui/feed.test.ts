import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient, type Hook } from '../../src/client/index.js';
import { messageView } from '../../tui/frame/bars.js';
import { createFeed } from '../../tui/state/feed.js';
import { isFull, listRows } from '../../tui/state/lists.js';
import { reduce } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { until, untilMatches } from '../harness/app.js';
import { frozenClock } from '../harness/clock.js';
import { aHook, known, NOW, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const ends: (() => void)[] = [];

/** A desk on its hooks, and a daemon with these, in pages of that size. */
const opened = (all: string[], size: number) => {
  const names = [...all];
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (url) => {
    const cursor = new URL(String(url)).searchParams.get('cursor');
    asked.push(cursor ?? 'first');
    const start = cursor === null ? 0 : names.indexOf(cursor) + 1;
    const hooks: Hook[] = names.slice(start, start + size).map((name) => aHook({ id: name, name }));
    const nextCursor = start + size < names.length ? (hooks.at(-1)?.id ?? null) : null;
    return new Response(JSON.stringify({ hooks, nextCursor }), {
      headers: { 'content-type': 'application/json' },
    });
  };
  const store = createStore(reduce, known([{ type: 'ui.root', root: 'hooks' }]));
  const client = createClient({ url: 'http://127.0.0.1:1', fetch });
  const feed = createFeed({ client, store, clock: frozenClock(NOW) });
  ends.push(feed.close, store.close);
  const rows = (): string =>
    listRows(store.get().lists.hooks)
      .map(({ id }) => id)
      .join('');
  return {
    ...{ names, asked, store, feed, rows },
    reads: (text: string) => untilMatches(async () => rows(), text),
    message: (): string => shown(messageView, store.get(), 80, 1)[0] ?? '',
  };
};

describe('feed', () => {
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

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
    const feed = createFeed({ client, store, clock: frozenClock(NOW) });
    const reading = feed.reload('hooks');
    await asked;
    end.abort();
    await reading;
    feed.close();
    store.close();
    expect(store.get().lists.hooks.loadedAt).to.be.null();
  });

  it('reads the rows below, once, and says whether there are more', async () => {
    const { feed, asked, reads, message } = opened([...'abcde'], 2);
    feed.list('hooks', null, null);
    await reads('ab');
    expect(message()).to.contain('more below');
    await Promise.all([feed.more('hooks'), feed.more('hooks'), feed.more('hooks')]);
    await reads('abcd');
    expect(asked).to.equal(['first', 'b']);
    await feed.more('hooks');
    await reads('abcde');
    expect(message()).to.not.contain('more below');
    await feed.more('hooks');
    expect(asked).to.equal(['first', 'b', 'd']);
  });

  it('reads as far as was read before when all is read again', async () => {
    const { feed, names, reads } = opened([...'abcdef'], 2);
    feed.list('hooks', null, null);
    await reads('ab');
    await feed.more('hooks');
    await reads('abcd');
    names.unshift('x');
    names.splice(names.indexOf('b'), 1);
    await feed.reload('hooks');
    await reads('xacd');
    await feed.more('hooks');
    await reads('xacdef');
  });

  it('drops what is below where it does not join any more', () => {
    const { store } = opened([], 2);
    const dispatch = (generation: number, ids: string, keepsBelow: boolean) => {
      const rows = [...ids].map((id) => aHook({ id, name: id }));
      const at = NOW;
      store.dispatch({
        type: 'list',
        name: 'hooks',
        change: { do: 'ask', of: null, generation, at },
      });
      store.dispatch({
        type: 'list',
        name: 'hooks',
        change: { do: 'load', generation, rows, nextCursor: `${generation}`, at, keepsBelow },
      });
      const { order, nextCursor } = store.get().lists.hooks;
      return `${order.join('')} ${nextCursor}`;
    };
    expect(dispatch(1, 'abcd', false)).to.equal('abcd 1');
    expect(dispatch(2, 'xab', true)).to.equal('xabcd 1');
    expect(dispatch(3, 'xb', true)).to.equal('xbcd 1');
    expect(Object.keys(store.get().lists.hooks.byId)).to.equal(['x', 'b', 'c', 'd']);
    expect(dispatch(4, 'yz', true)).to.equal('yz 4');
  });

  it('reads no further than it keeps', async () => {
    const names = Array.from({ length: 1300 }, (_, at) => `h${at}`);
    const { feed, asked, store, message } = opened(names, 600);
    feed.list('hooks', null, null);
    await untilMatches(async () => store.get().lists.hooks.order.length, 600);
    await feed.more('hooks');
    await until(async () => isFull(store.get().lists.hooks), Boolean);
    await feed.more('hooks');
    expect(asked.length).to.equal(2);
    expect(message()).to.contain('limited to 1,000');
  });
});
