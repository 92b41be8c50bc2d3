import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { inboxPage } from '../../tui/screens/inbox.js';
import { openDeskState } from '../../tui/state/deskstate.js';
import { createFeed } from '../../tui/state/feed.js';
import { listRows } from '../../tui/state/lists.js';
import { createNeedHolder } from '../../tui/state/needs.js';
import { reduce, type State } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { startApp, type TestApp, until, untilMatches } from '../harness/app.js';
import { frozenClock } from '../harness/clock.js';
import { inside } from '../harness/inside.js';
import { aNotification, inboxLoaded, known, NOW, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const titles = ({ lists }: State): string[] =>
  listRows(lists.notifications).map(({ title }) => title);

describe('the inbox on a daemon', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  it('shows a notification as soon as it is there, though its list was empty', async () => {
    const { id, token } = await app.register('ada');
    const size = { width: 80, height: 24 };
    const desk = openDeskState({ url: app.url, token, size, clock: systemClock });
    desk.store.dispatch({ type: 'ui.root', root: 'inbox' });
    const running = desk.run();
    await untilMatches(async () => desk.store.get().session.link.is, 'live');
    createNeedHolder(desk)(inboxPage.needs(desk.store.get()));
    await until(
      async () => desk.store.get().lists.notifications.loadedAt,
      (at) => at !== null,
    );
    expect(shown(inboxPage.view, desk.store.get(), 80, 19)[0]).to.match(/^No notifications/);
    const notice = {
      kind: 'agent_completed',
      title: 'Done',
      body: 'All of it',
      link: null,
    } as const;
    await inside(app.app).outbox.send(id, notice);
    await until(
      async () => titles(desk.store.get()),
      ([title]) => title === 'Done',
    );
    desk.close();
    await running;
  });
});

describe('the inbox', () => {
  const ask = (at: number) =>
    ({
      type: 'list',
      name: 'notifications',
      change: { do: 'ask', of: null, generation: 6, at },
    }) as const;
  const put = (title: string) =>
    ({
      type: 'list',
      name: 'notifications',
      change: { do: 'put', row: aNotification({ id: title, title }) },
    }) as const;
  const [, load] = inboxLoaded([aNotification({ id: 'old', title: 'old' })]);

  it('says that it loads, and not that there is nothing, until the first reply', () => {
    const state = known([ask(NOW - 400), { type: 'ui.root', root: 'inbox' }]);
    expect(shown(inboxPage.view, state, 80, 19)).to.equal(['loading 0.4 s']);
  });

  it('keeps what arrives while it loads, whatever the reply has', () => {
    if (!load) throw new Error('nothing loaded');
    expect(titles(known([ask(NOW), put('new'), load]))).to.equal(['new', 'old']);
    expect(titles(known([ask(NOW), load, put('new')]))).to.equal(['new', 'old']);
    const dropped = { type: 'list', name: 'notifications' } as const;
    const state = known([
      ask(NOW),
      put('new'),
      { ...dropped, change: { do: 'drop', id: 'new' } },
      load,
    ]);
    expect(titles(state)).to.equal(['old']);
    const again = known([
      ask(NOW),
      put('new'),
      load,
      ...inboxLoaded([aNotification({ title: 'x' })]),
    ]);
    expect(titles(again)).to.equal(['x']);
  });

  it('is read again by who comes back, however soon', async () => {
    let asked = 0;
    const fetch: typeof globalThis.fetch = async () => {
      asked++;
      return new Response('{"notifications":[],"nextCursor":null}', {
        headers: { 'content-type': 'application/json' },
      });
    };
    const store = createStore(reduce, known());
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    const feed = createFeed({ client, store, clock: frozenClock(NOW) });
    const isLoaded = () =>
      until(
        async () => store.get().lists.notifications,
        ({ loadedAt, askedAt }) => loadedAt !== null && askedAt === null,
      );
    const leave = feed.list('notifications', null, null);
    await isLoaded();
    feed.list('notifications', null, null)();
    expect(asked).to.equal(1);
    leave();
    feed.list('notifications', null, null);
    await isLoaded();
    expect(asked).to.equal(2);
    feed.close();
    store.close();
  });
});
