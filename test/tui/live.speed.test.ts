import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import { version } from '../../src/client/version.js';
import { systemClock } from '../../src/kernel/clock.js';
import { loadAccount } from '../../tui/state/bootstrap.js';
import { createLive } from '../../tui/state/live.js';
import type { SessionState } from '../../tui/state/session.js';
import { reduce } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { startApp, type TestApp, until, untilMatches } from '../harness/app.js';
import { type Gate, openGate } from '../harness/gate.js';
import { listen } from '../kernel/listen.js';
import { known, quietFeed } from './fixtures.js';

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
      clock: systemClock,
    });
    const running = live.run();
    const isLive = () => untilMatches(async () => store.get().session.link.is, 'live');
    await isLive();
    const openAt = await gate.refuse(6);
    expect(store.get().session.link.is).to.equal('lost');
    await isLive();
    expect(Date.now() - openAt).to.be.below(1000);
    end.abort();
    await running;
    store.close();
  });

  it('says in one sentence that something answers that is no Adjutant, or an older one', async () => {
    const stranger = await listen((_, response) => response.end('<h1>hello</h1>'));
    const lost = await linkOf(stranger.origin, ({ link }) => link.is === 'lost');
    expect(lost.link).to.include({
      is: 'lost',
      reason: 'the server at this address is not Adjutant',
    });
    await stranger.close();
    const store = createStore(reduce, known());
    const older: typeof fetch = async () =>
      new Response('{"status":"ok","version":"0.0.9","uptimeSeconds":1}', {
        headers: { 'content-type': 'application/json' },
      });
    await loadAccount(createClient({ url: gate.url, fetch: older }), store);
    const said = await until(
      async () => store.get().ui.message,
      (message) => message !== null,
    );
    expect(said).to.equal({
      text:
        `The daemon at ${gate.url} runs Adjutant 0.0.9, which is older than this version (${version()}). ` +
        'Restart the daemon with this version: adjutant restart',
      tone: 'warn',
    });
    store.close();
  });
});

/** State of the connection to an address, once it passes the test. */
const linkOf = async (url: string, isSo: (state: SessionState) => boolean) => {
  const store = createStore(reduce, known());
  const end = new AbortController();
  const client = createClient({ url });
  const feed = { ...quietFeed(), wantedChannels: () => ['agent.status'] };
  const deps = { client, store, feed, token: () => 't', signal: end.signal, clock: systemClock };
  const running = createLive(deps).run();
  const session = await until(async () => store.get().session, isSo);
  end.abort();
  await running;
  store.close();
  return session;
};
