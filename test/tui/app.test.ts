import * as Lab from '@hapi/lab';
import { cleanup, render } from 'ink-testing-library';
import { createElement } from 'react';
import { createClient } from '../../src/client/index.js';
import { App } from '../../tui/app.js';
import { Painter } from '../../tui/painter.js';
import { createFeed } from '../../tui/state/feed.js';
import { reduce, type StateAction } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { createTheme } from '../../tui/theme.js';
import { until } from '../harness/app.js';
import { frozenClock } from '../harness/clock.js';
import { aHook, known, NOW } from './fixtures.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

/** Rows of a terminal after all output of the painter. */
const openScreen = () => {
  const rows: string[] = [];
  const write = (text: string): boolean => {
    const bare = text.replaceAll(/\u001b\[\??[\d;]*[hlmK]/g, '');
    for (const [, top = '', row = ''] of bare.matchAll(/\u001b\[(\d+);1H([^\u001b]*)/g)) {
      rows[Number(top) - 1] = row;
    }
    return true;
  };
  return { terminal: { write, once: () => {} }, text: () => rows.join('\n') };
};

/** The app, and a daemon with the same reply to every request. */
const open = (answer: () => Promise<Response>, actions: StateAction[] = []) => {
  const store = createStore(reduce, known(actions, 100, 24));
  const client = createClient({ url: 'http://127.0.0.1:1', fetch: answer });
  const clock = frozenClock(NOW);
  const feed = createFeed({ client, store, clock });
  const { terminal, text } = openScreen();
  const size = () => store.get().ui.size;
  const painter = new Painter({ terminal, theme: createTheme('mono'), size, cursor: () => null });
  render(createElement(App, { desk: { store, feed, clock, painter } }));
  store.subscribe(
    (state) => state,
    () => painter.plan(),
  );
  const sees = (words: string) =>
    until(
      async () => text(),
      (frame) => frame.includes(words),
    );
  return { store, sees };
};

const json = (status: number, body: unknown) => async (): Promise<Response> =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
const problem = (status: number, message: string) =>
  json(status, { statusCode: status, error: 'E', message, requestId: 'request_1' });
const atHooks: StateAction[] = [{ type: 'ui.root', root: 'hooks' }];
const page = (hooks: unknown[]) => ({ hooks, approvals: [], executions: [], nextCursor: null });

describe('app', () => {
  afterEach(() => cleanup());

  it('shows that it loads once that takes long', async () => {
    const { store, sees } = open(() => new Promise(() => {}), atHooks);
    await sees('[2Hooks]');
    store.dispatch({ type: 'session.ticked', now: NOW + 600 });
    await sees('loading 0.6 s');
  });

  it('shows what was loaded, and what an empty list is for', async () => {
    await open(json(200, page([aHook()])), atHooks).sees('github-issues');
    await open(json(200, page([])), atHooks).sees('No hooks yet.');
  });

  it('shows errors with what to do', async () => {
    await open(problem(403, 'Admins only'), atHooks).sees('Ask an admin');
    await open(problem(500, 'Broken'), atHooks).sees('adjutant logs');
    const lost = open(() => Promise.reject(new TypeError('fetch failed')), atHooks);
    await lost.sees('On this machine: adjutant up');
  });

  it('marks what is stale', async () => {
    const { store, sees } = open(json(200, page([aHook()])), atHooks);
    await sees('github-issues');
    const link = {
      is: 'lost' as const,
      since: NOW,
      attempt: 4,
      nextAt: NOW + 3000,
      reason: 'gone',
    };
    store.dispatch({ type: 'session.linked', link });
    await sees('LOST');
    await sees('try 4 in 3 s');
    await sees('github-issues');
  });

  it('says the size that it needs', async () => {
    const { store, sees } = open(json(200, page([])), atHooks);
    store.dispatch({ type: 'ui.sized', size: { width: 50, height: 10 } });
    await sees('needs 60x16');
  });
});
