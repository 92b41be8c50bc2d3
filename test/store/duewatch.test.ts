import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createDueWatch } from '../../src/store/duewatch.js';
import { until } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

const EVERY_MS = 5;

/** Rows that are due at the times given, watched by a clock that stands still. */
const watched = (dueAt: number[]) => {
  const state = { now: 1000, writes: 0, ticks: 0 };
  const watch = createDueWatch(
    { store: { writes: () => state.writes }, clock: { now: () => state.now } },
    {
      everyMs: EVERY_MS,
      tick: async () => {
        state.ticks++;
        while (dueAt[0] !== undefined && dueAt[0] <= state.now) dueAt.shift();
      },
      nextAt: async () => (dueAt[0] === undefined ? null : new Date(dueAt[0]).toISOString()),
      failed: (error) => {
        throw error;
      },
    },
  );
  const settled = async (): Promise<number> => {
    await wait(EVERY_MS * 10);
    return state.ticks;
  };
  return { state, watch, settled };
};

describe('the watch of rows that fall due', () => {
  it('reads nothing while nothing was written and the next time has not come', async () => {
    const { state, watch, settled } = watched([5000]);
    watch.start();
    expect(await settled()).to.equal(1);
    state.now = 4999;
    expect(await settled()).to.equal(1);
    state.now = 5000;
    await until(settled, (ticks) => ticks === 2);
    state.now = 9000;
    expect(await settled()).to.equal(2);
    await watch.stop();
  });

  it('reads again after something was written, which may be due earlier', async () => {
    const dueAt = [5000];
    const { state, watch, settled } = watched(dueAt);
    watch.start();
    expect(await settled()).to.equal(1);
    dueAt.unshift(900);
    state.writes++;
    await until(settled, (ticks) => ticks === 2);
    expect(dueAt).to.equal([5000]);
    await watch.stop();
  });
});
