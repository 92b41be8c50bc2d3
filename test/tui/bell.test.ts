import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ringOnApproval } from '../../tui/bell.js';
import { reduce } from '../../tui/state/state.js';
import { createStore } from '../../tui/state/store.js';
import { anApproval, approvalsLoaded, known, NOW } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const opened = () => {
  const store = createStore(reduce, known());
  const clock = { now: NOW };
  const rung: number[] = [];
  const stop = ringOnApproval({ store, now: () => clock.now, ring: () => rung.push(clock.now) });
  const load = (...rows: ReturnType<typeof anApproval>[]): void => {
    for (const action of approvalsLoaded(rows)) store.dispatch(action);
  };
  return { store, clock, rung, stop, load };
};
const call = (id: string, status: 'pending' | 'denied' = 'pending') => anApproval({ id, status });

describe('bell', () => {
  it('rings once for what begins to wait, and not for what waited before', () => {
    const { store, rung, load, clock } = opened();
    load(call('a'));
    expect(rung).to.equal([]);
    const before = store.get().ui;
    load(call('a'), call('b'));
    clock.now += 60_000;
    load(call('a'), call('b'));
    load(call('b'));
    load(call('a'), call('b'), call('c', 'denied'));
    expect(rung).to.equal([NOW]);
    expect(store.get().ui).to.equal(before);
  });

  it('rings once for many that come together', () => {
    const { store, rung, load, clock } = opened();
    load();
    for (let n = 0; n < 50; n++) {
      const change = { do: 'put' as const, row: call(`approval_${n}`), isBelow: true };
      store.dispatch({ type: 'list', name: 'approvals', change });
      clock.now += 50;
    }
    expect(rung).to.equal([NOW]);
    clock.now += 5000;
    load(call('later'));
    expect(rung.length).to.equal(2);
  });

  it('is silent once it was stopped', () => {
    const { rung, load, stop } = opened();
    load();
    stop();
    load(call('a'));
    expect(rung).to.equal([]);
  });
});
