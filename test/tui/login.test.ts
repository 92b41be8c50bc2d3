import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/index.js';
import type { Controller } from '../../tui/control/controller.js';
import { dispatchKey } from '../../tui/control/dispatch.js';
import { askAtStart } from '../../tui/control/login.js';
import { hintsView, messageView } from '../../tui/frame/bars.js';
import { isFirstVisit, welcomeView } from '../../tui/frame/welcome.js';
import type { Link } from '../../tui/state/session.js';
import { initialState, reduce } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';
import { NOW, quietFeed, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const REFUSED: Link = { is: 'refused', reason: 'The session has ended', isEnded: true };

/** A new desk, and a daemon that accepts one password. */
const opened = (loginName: string | null) => {
  const size = { width: 80, height: 24 };
  const store = createStore(reduce, initialState('http://127.0.0.1:3005', size, NOW));
  store.dispatch({ type: 'session.known', loginName });
  const tried: string[] = [];
  const not = (): never => {
    throw new Error('Nothing leaves the desk here');
  };
  const hands: Controller = {
    client: createClient({ url: 'http://127.0.0.1:1' }),
    store,
    feed: quietFeed(),
    clock: frozenClock(NOW),
    logIn: async ({ username, password }) => {
      tried.push(`${username} ${password}`);
      return password === 'right'
        ? { is: 'in', who: { username, role: 'user' } }
        : { is: 'refused', reason: 'Wrong name or password' };
    },
    keptName: loginName,
    tryNow: () => {},
    outside: {
      ...{ copy: not, leave: not, write: not, print: not, redraw: not, suspend: not, quit: not },
    },
  };
  askAtStart(hands);
  return {
    store,
    tried,
    keys: (...names: string[]) => {
      for (const key of names) dispatchKey(hands, { type: 'key', key, isBurst: false });
    },
    settled: runLoopTurns,
  };
};

describe('a start', () => {
  it('asks for the password at once where the login has ended', async () => {
    const desk = opened('ada');
    desk.store.dispatch({ type: 'session.linked', link: REFUSED });
    expect(desk.store.get().ui.field?.for).to.equal('password');
    expect(shown(messageView, desk.store.get(), 80, 1)[0]).to.equal('Password for ada:');
    expect(isFirstVisit(desk.store.get())).to.be.false();
    desk.keys(...'right', 'enter');
    await desk.settled();
    expect(desk.tried).to.equal(['ada right']);
    expect(desk.store.get().session.who).to.equal({ username: 'ada', role: 'user' });
  });

  it('leaves one to read what is there', () => {
    const desk = opened('ada');
    desk.store.dispatch({ type: 'session.linked', link: REFUSED });
    desk.keys('esc');
    expect(desk.store.get().ui.field).to.be.null();
    desk.store.dispatch({ type: 'session.linked', link: { ...REFUSED } });
    expect(desk.store.get().ui.field).to.be.null();
    expect(shown(messageView, desk.store.get(), 80, 1)[0]).to.contain('enter logs in again');
  });

  it('asks nothing by itself once it was live', () => {
    const desk = opened('ada');
    desk.store.dispatch({ type: 'session.linked', link: { is: 'live' } });
    desk.store.dispatch({ type: 'session.linked', link: REFUSED });
    expect(desk.store.get().ui.field).to.be.null();
  });

  it('waits for a daemon that does not answer yet', () => {
    const desk = opened('ada');
    const link: Link = { is: 'lost', since: NOW, attempt: 1, nextAt: NOW, reason: 'refused' };
    desk.store.dispatch({ type: 'session.linked', link });
    expect(desk.store.get().ui.field).to.be.null();
    desk.store.dispatch({ type: 'session.linked', link: REFUSED });
    expect(desk.store.get().ui.field?.for).to.equal('password');
  });

  it('without an account names quickstart, and asks for a name by enter', async () => {
    const desk = opened(null);
    desk.store.dispatch({ type: 'session.linked', link: REFUSED });
    const state = desk.store.get();
    expect([isFirstVisit(state), state.ui.field]).to.equal([true, null]);
    expect(shown(welcomeView, state, 80, 19)[2]).to.contain('adjutant quickstart');
    desk.keys('enter', ...'bob', 'enter');
    expect(shown(messageView, desk.store.get(), 80, 1)[0]).to.equal('Password for bob:');
    expect(shown(hintsView, desk.store.get(), 80, 1)[0]).to.contain('enter log in');
    desk.keys(...'wrong', 'enter');
    await desk.settled();
    expect(desk.store.get().ui.message?.text).to.contain('Wrong name or password');
    expect(isFirstVisit(desk.store.get())).to.be.true();
    desk.keys('enter', ...'ada', 'enter', ...'right', 'enter');
    await desk.settled();
    expect(desk.tried).to.equal(['bob wrong', 'ada right']);
    expect(isFirstVisit(desk.store.get())).to.be.false();
  });
});
