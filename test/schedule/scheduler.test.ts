import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createLog } from '../../src/kernel/log.js';
import { createScheduler, type DueSource } from '../../src/schedule/scheduler.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';

export const lab = Lab.script();
const { describe, it } = lab;

const EVERY_MS = 1000;
const START = Date.parse('2026-03-01T12:00:00.000Z');
const iso = (ms: number): string => new Date(ms).toISOString();

const stage = () => {
  const clock = frozenClock(START);
  const state = { writes: 0 };
  const scheduler = createScheduler({
    store: { writes: () => state.writes },
    clock,
    log: createLog('silent'),
  });
  return {
    ...{ clock, state, scheduler },
    start: async (...sources: DueSource[]): Promise<void> => {
      scheduler.start(sources);
      await runLoopTurns();
    },
    /** A second passes, and with it a check. */
    check: async (times = 1): Promise<void> => {
      for (let n = 0; n < times; n++) {
        await clock.waiting(EVERY_MS);
        clock.forward(EVERY_MS);
        await runLoopTurns();
      }
    },
  };
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

describe('the scheduler', () => {
  it('reads nothing while nothing was written and the next time has not come', async () => {
    const { clock, scheduler, start, check } = stage();
    const { source, counts } = dueAt('rows', [START + 5000], clock.now);
    await start(source);
    await check(4);
    expect(counts).to.equal({ reads: 1, ticks: 0, fired: 0 });
    await check();
    expect(counts).to.equal({ reads: 2, ticks: 1, fired: 1 });
    await check(4);
    expect(counts).to.equal({ reads: 2, ticks: 1, fired: 1 });
    await scheduler.stop();
  });

  it('reads again after something was written, which may be due earlier', async () => {
    const { clock, state, scheduler, start, check } = stage();
    const times = [START + 5000];
    const { source, counts } = dueAt('rows', times, clock.now);
    await start(source);
    times.unshift(START - 100);
    state.writes++;
    await check();
    expect([counts.fired, times]).to.equal([1, [START + 5000]]);
    await scheduler.stop();
  });

  it('fires once what a clock that is set forward and back passes twice', async () => {
    const { clock, scheduler, start, check } = stage();
    const { source, counts } = dueAt('rows', [START + 2000, START + 7000], clock.now);
    await start(source);
    clock.shift(5000);
    await check();
    expect(counts.fired).to.equal(1);
    clock.shift(-5000);
    await check();
    clock.shift(3999);
    await check();
    expect([clock.now(), counts.fired]).to.equal([START + 6999, 1]);
    await check();
    expect(counts.fired).to.equal(2);
    await scheduler.stop();
  });

  it('holds up no source for one that fails or takes long', async () => {
    const { clock, scheduler, start } = stage();
    const failing: DueSource = {
      name: 'failing',
      nextAt: async () => iso(START - 100),
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
      nextAt: async () => iso(START - 200),
      tick: (signal) =>
        new Promise((resolve) => {
          end = resolve;
          signal?.addEventListener('abort', () => resolve());
        }),
    };
    const { source, counts } = dueAt('rows', [START - 50], clock.now);
    await start(failing, unreadable, slow, source);
    expect(counts.fired).to.equal(1);
    expect(scheduler.late(0)).to.equal([
      { name: 'failing', dueAt: iso(START - 100), error: 'it broke' },
      { name: 'slow', dueAt: iso(START - 200), error: null },
    ]);
    expect(scheduler.late(150)).to.equal([{ name: 'slow', dueAt: iso(START - 200), error: null }]);
    end();
    await scheduler.stop();
  });

  it('pauses a source that fails, and goes on with it as soon as it succeeds', async () => {
    const { clock, scheduler, start, check } = stage();
    const { source, counts } = dueAt('rows', [START - 100], clock.now);
    let attempts = 0;
    const tick: DueSource['tick'] = async () => {
      if (++attempts < 4) throw new Error('not yet');
      await source.tick();
    };
    await start({ ...source, tick });
    const made = [attempts];
    for (let n = 0; n < 7; n++) {
      await check();
      made.push(attempts);
    }
    expect(made).to.equal([1, 2, 2, 3, 3, 3, 3, 4]);
    expect([counts.fired, scheduler.late(0)]).to.equal([1, []]);
    await scheduler.stop();
  });

  it('ends the work under way when it stops, and begins none', async () => {
    const { clock, scheduler, start } = stage();
    const events: string[] = [];
    const slow: DueSource = {
      name: 'slow',
      nextAt: async () => iso(START - 100),
      tick: async (signal) => {
        events.push('begun');
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        events.push('ended');
      },
    };
    await start(slow);
    expect(events).to.equal(['begun']);
    await scheduler.stop();
    expect([events, clock.pending()]).to.equal([['begun', 'ended'], []]);
  });
});
