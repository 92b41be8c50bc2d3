import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { listRows } from '../../tui/state/lists.js';
import { matchesFilter } from '../../tui/state/selection.js';
import { createStore } from '../../tui/state/store.js';
import {
  getStreamRing,
  joinStreams,
  reduceStreams,
  type StreamsState,
} from '../../tui/state/streams.js';
import { getScreenStack, topView } from '../../tui/state/ui.js';
import { frozenClock } from '../harness/clock.js';
import { aHook, anApproval, approvalsLoaded, hooksLoaded, known, NOW } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('store', () => {
  it('gathers what is queued into one beat', () => {
    const clock = frozenClock(NOW);
    const store = createStore((state: number[], action: number) => [...state, action], [], {
      clock,
    });
    const told: number[][] = [];
    store.subscribe(
      (state) => state,
      (state) => told.push(state),
    );
    store.queue(1);
    store.queue(2);
    expect(store.get()).to.equal([]);
    clock.forward(66);
    expect(told).to.equal([[1, 2]]);
    store.close();
  });

  it('makes one of what can be told as one', () => {
    const join = (a: number[], b: number[]) => (a[0] === b[0] ? [...a, ...b.slice(1)] : null);
    const store = createStore((state: number[][], each: number[]) => [...state, each], [], {
      join,
    });
    for (const action of [
      [1, 7],
      [1, 8],
      [2, 9],
    ])
      store.queue(action);
    store.dispatch([3]);
    expect(store.get()).to.equal([[1, 7, 8], [2, 9], [3]]);
    store.close();
  });

  it('does what a key does at once, after what has come before', () => {
    const store = createStore((state: number[], action: number) => [...state, action], []);
    store.queue(1);
    store.dispatch(2);
    expect(store.get()).to.equal([1, 2]);
    store.close();
  });
});

describe('lists', () => {
  it('drops an answer to an older question', () => {
    const state = known([
      ...hooksLoaded([aHook()]),
      { type: 'list', name: 'hooks', change: { do: 'ask', of: null, generation: 9, at: NOW } },
      {
        type: 'list',
        name: 'hooks',
        change: { do: 'load', generation: 1, rows: [], nextCursor: null, at: NOW },
      },
    ]);
    expect(listRows(state.lists.hooks).map(({ name }) => name)).to.equal(['github-issues']);
  });

  it('forgets the rows of another parent', () => {
    const state = known([
      { type: 'list', name: 'executions', change: { do: 'ask', of: 'a', generation: 1, at: NOW } },
      { type: 'list', name: 'executions', change: { do: 'ask', of: 'b', generation: 2, at: NOW } },
    ]);
    expect(state.lists.executions).to.include({ of: 'b', order: [] });
  });

  it('adds a new approval below, and keeps the place of one that changes', () => {
    const rows = [anApproval({ id: 'a' }), anApproval({ id: 'b' })];
    const state = known([
      ...approvalsLoaded(rows),
      {
        type: 'list',
        name: 'approvals',
        change: { do: 'put', row: anApproval({ id: 'c' }), isBelow: true },
      },
      {
        type: 'list',
        name: 'approvals',
        change: { do: 'put', row: anApproval({ id: 'a', status: 'denied' }), isBelow: true },
      },
    ]);
    expect(state.lists.approvals.order).to.equal(['a', 'b', 'c']);
    expect(state.lists.approvals.byId.a?.status).to.equal('denied');
  });
});

describe('streams', () => {
  const entry = (number: number | null) => ({ number, at: '', kind: 'agent.message', data: {} });
  const told = (state: StreamsState, name: string, numbers: (number | null)[]): StreamsState =>
    reduceStreams(state, { type: 'stream.added', name, entries: numbers.map(entry) });

  it('counts once what is told twice', () => {
    const state = told(told({}, 'a', [1, 2]), 'a', [2, 3]);
    expect(getStreamRing(state, 'a').entries.map(({ number }) => number)).to.equal([1, 2, 3]);
  });

  it('counts once what is told twice in one beat', () => {
    const tell = (name: string, ...numbers: number[]) => ({
      type: 'stream.added',
      name,
      entries: numbers.map(entry),
    });
    const one = joinStreams(tell('a', 1, 2), tell('a', 2, 3));
    expect(joinStreams(tell('a', 1), tell('b', 2))).to.be.null();
    const state = one ? reduceStreams({}, one) : {};
    expect(getStreamRing(state, 'a').entries.map(({ number }) => number)).to.equal([1, 2, 3]);
  });

  it('puts what was caught up where its time belongs', () => {
    const at = (time: string) => ({ ...entry(null), at: time });
    const tell = (state: StreamsState, ...times: string[]) =>
      reduceStreams(state, { type: 'stream.added', name: 'a', entries: times.map(at) });
    const state = tell(tell({}, 'T1', 'T4'), 'T2', 'T3', 'T4');
    const times = getStreamRing(state, 'a').entries.map((each) => each.at);
    expect(times).to.equal(['T1', 'T2', 'T3', 'T4', 'T4']);
  });

  it('keeps 2,000 entries, and five streams', () => {
    const many = Array.from({ length: 2500 }, (_, at) => at + 1);
    let state = told({}, 'a', many);
    expect(getStreamRing(state, 'a').entries.length).to.equal(2000);
    for (const name of ['b', 'c', 'd', 'e', 'f']) state = told(state, name, [1]);
    expect(Object.keys(state).sort()).to.equal(['b', 'c', 'd', 'e', 'f']);
  });

  it('says which numbers are missing', () => {
    const state = reduceStreams(told({}, 'a', [38]), {
      type: 'stream.gap',
      name: 'a',
      from: 39,
      to: 50,
    });
    expect(getStreamRing(told(state, 'a', [51]), 'a')).to.include({ gaps: [[39, 50]], last: 51 });
  });
});

describe('places', () => {
  it('keeps each screen where it was left, and goes back through what was visited', () => {
    const state = known([
      { type: 'ui.root', root: 'hooks' },
      { type: 'ui.opened', place: { page: 'hook', id: 'hook_01' } },
      { type: 'ui.root', root: 'vault' },
      { type: 'ui.root', root: 'hooks' },
    ]);
    expect(topView(state.ui)).to.include({ page: 'hook', id: 'hook_01' });
    const away = known([
      { type: 'ui.root', root: 'hooks' },
      { type: 'ui.looked', change: { filter: 'x' } },
      { type: 'ui.went', root: 'agents', places: [], selected: 'agent_1' },
    ]);
    expect(topView(away.ui)).to.include({ page: 'agents', selected: 'agent_1' });
    const back = known([
      { type: 'ui.root', root: 'hooks' },
      { type: 'ui.looked', change: { filter: 'x' } },
      { type: 'ui.went', root: 'agents', places: [] },
      { type: 'ui.returned' },
    ]);
    expect(topView(back.ui)).to.include({ page: 'hooks', filter: 'x' });
  });

  it('never closes the last page', () => {
    const state = known([{ type: 'ui.root', root: 'hooks' }, { type: 'ui.closed' }]);
    expect(getScreenStack(state.ui).map(({ page }) => page)).to.equal(['hooks']);
  });
});

describe('filter', () => {
  const item = { id: '1', name: 'stripe-refunds', words: 'disabled', facts: { status: 'error' } };

  it('wants every word, none behind !, and a fact by its name', () => {
    const filters = ['stripe dis', 'stripe !dis', 'status:err', '!status:err', 'http://x'];
    expect(filters.map((filter) => matchesFilter(item, filter))).to.equal([
      true,
      false,
      true,
      false,
      false,
    ]);
  });
});
