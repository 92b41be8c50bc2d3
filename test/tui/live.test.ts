import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { createLive } from '../../tui/state/live.js';
import { reduce } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { startApp, type TestApp, until } from '../harness/app.js';
import { type Gate, openGate } from '../harness/gate.js';
import { known, quietFeed } from './known.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the connection of the desk', () => {
  let app: TestApp;
  let gate: Gate;
  let token: string;
  before(async () => {
    app = await startApp();
    ({ token } = await app.register('ada'));
    gate = await openGate(app.url);
  });
  after(async () => {
    gate.close();
    await app.stop();
  });

  it('is there again within a second, however long the daemon was away', async () => {
    const store = createStore(reduce, known());
    const end = new AbortController();
    const client = createClient({ url: gate.url, token });
    const feed = { ...quietFeed(), wantedChannels: () => ['agent.status'] };
    const live = createLive({
      ...{ client, store, feed },
      token: () => token,
      signal: end.signal,
      now: Date.now,
    });
    const running = live.run();
    const isLive = () =>
      until(
        async () => store.get().session.link.is,
        (link) => link === 'live',
      );
    await isLive();
    const openAt = await gate.refuse(6);
    expect(store.get().session.link.is).to.equal('lost');
    await isLive();
    expect(Date.now() - openAt).to.be.below(1000);
    end.abort();
    await running;
    store.close();
  });
});
