import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { systemClock } from '../../src/kernel/clock.js';
import { createLog } from '../../src/kernel/log.js';
import { createScheduler, type DueSource } from '../../src/schedule/scheduler.js';
import { untilMatches } from '../harness/app.js';
import { timersFired } from '../harness/turns.js';

export const lab = Lab.script();
const { describe, it } = lab;

const EVERY_MS = 5;
const iso = (ms: number): string => new Date(ms).toISOString();

/** A scheduler by a clock that stands still. */
const stage = () => {
  const state = { now: 1000, writes: 0 };
  const scheduler = createScheduler({
    store: { writes: () => state.writes },
    clock: { ...systemClock, now: () => state.now },
    log: createLog('silent'),
    everyMs: EVERY_MS,
  });
  return { state, scheduler };
};

/** A source that is due at these times; `reads` and `ticks` count what is asked of it. */
const dueAt = (name: string, times: number[], now: () => number) => {
  const counts = { reads: 0, ticks: 0, fired: 0 };
  const source: DueSource = {
    name,
    nextAt: async () => {
      counts.reads++;
      return times[0] === undefined ? null : iso(times[0]);
    },
    tick: async () => {
      counts.ticks++;
      while (times[0] !== undefined && times[0] <= now()) {
        times.shift();
        counts.fired++;
      }
    },
  };
  return { source, counts };
};

const settled = () => timersFired(EVERY_MS * 2);

describe('the scheduler', () => {
  it('reads nothing while nothing was written and the next time has not come', async () => {
    const { state, scheduler } = stage();
    const { source, counts } = dueAt('rows', [5000], () => state.now);
    scheduler.start([source]);
    await settled();
    expect(counts).to.equal({ reads: 1, ticks: 0, fired: 0 });
    state.now = 4999;
    await settled();
    expect(counts).to.equal({ reads: 1, ticks: 0, fired: 0 });
    state.now = 5000;
    await untilMatches(async () => counts, { fired: 1 });
    state.now = 9000;
    await settled();
    expect(counts).to.equal({ reads: 2, ticks: 1, fired: 1 });
    await scheduler.stop();
  });

  it('reads again after something was written, which may be due earlier', async () => {
    const { state, scheduler } = stage();
    const times = [5000];
    const { source, counts } = dueAt('rows', times, () => state.now);
    scheduler.start([source]);
    await settled();
    times.unshift(900);
    state.writes++;
    await untilMatches(async () => counts, { fired: 1 });
    expect(times).to.equal([5000]);
    await scheduler.stop();
  });

  it('fires once what a clock that is set forward and back passes twice', async () => {
    const { state, scheduler } = stage();
    const { source, counts } = dueAt('rows', [2000, 7000], () => state.now);
    scheduler.start([source]);
    state.now = 6000;
    await untilMatches(async () => counts, { fired: 1 });
    state.now = 1500;
    await settled();
    state.now = 6999;
    await settled();
    expect(counts.fired).to.equal(1);
    state.now = 7000;
    await untilMatches(async () => counts, { fired: 2 });
    await scheduler.stop();
  });

  it('holds up no source for one that fails or takes long', async () => {
    const { state, scheduler } = stage();
    const failing: DueSource = {
      name: 'failing',
      nextAt: async () => iso(900),
      tick: async () => {
        throw new Error('it broke');
      },
    };
    const unreadable: DueSource = {
      name: 'unreadable',
      nextAt: async () => {
        throw new Error('no such row');
      },
      tick: async () => undefined,
    };
    let end = () => {};
    const slow: DueSource = {
      name: 'slow',
      nextAt: async () => iso(800),
      tick: (signal) =>
        new Promise((resolve) => {
          end = resolve;
          signal?.addEventListener('abort', () => resolve());
        }),
    };
    const { source, counts } = dueAt('rows', [950], () => state.now);
    scheduler.start([failing, unreadable, slow, source]);
    await untilMatches(async () => counts, { fired: 1 });
    const late = await untilMatches(async () => scheduler.late(0), { length: 2 });
    expect(late).to.equal([
      { name: 'failing', dueAt: iso(900), error: 'it broke' },
      { name: 'slow', dueAt: iso(800), error: null },
    ]);
    expect(scheduler.late(150)).to.equal([{ name: 'slow', dueAt: iso(800), error: null }]);
    end();
    await scheduler.stop();
  });

  it('pauses a source that fails, and goes on with it as soon as it succeeds', async () => {
    const { state, scheduler } = stage();
    const { source, counts } = dueAt('rows', [900], () => state.now);
    let attempts = 0;
    const tick: DueSource['tick'] = async () => {
      if (++attempts < 4) throw new Error('not yet');
      await source.tick();
    };
    scheduler.start([{ ...source, tick }]);
    await untilMatches(async () => counts, { fired: 1 });
    expect(attempts).to.equal(4);
    expect(scheduler.late(0)).to.equal([]);
    await scheduler.stop();
  });

  it('ends the work under way when it stops, and begins none', async () => {
    const { state, scheduler } = stage();
    const events: string[] = [];
    const slow: DueSource = {
      name: 'slow',
      nextAt: async () => iso(900),
      tick: async (signal) => {
        events.push('begun');
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        events.push('ended');
      },
    };
    scheduler.start([slow]);
    await untilMatches(async () => events.length, 1);
    await scheduler.stop();
    state.writes++;
    await settled();
    expect(events).to.equal(['begun', 'ended']);
  });
});
