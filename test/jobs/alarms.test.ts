import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Alarms, createAlarms } from '../../src/jobs/alarms.js';
import { type FrozenClock, frozenClock } from '../harness/app.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const HOUR = 3600_000;
const LOOK_MS = 5;

describe('alarms', () => {
  let clock: FrozenClock;
  let alarms: Alarms;
  let rung: string[];
  beforeEach(() => {
    clock = frozenClock();
    alarms = createAlarms(clock, LOOK_MS);
    rung = [];
  });
  afterEach(() => alarms.stop());

  const at = (name: string, ms: number) => alarms.at(name, clock.now() + ms, () => rung.push(name));
  /** So much true time passes, in which the clock stands still. */
  const passed = (ms: number): Promise<void> =>
    new Promise((resolve) => alarms.after(`passed ${ms}`, ms, resolve));

  it('are called soon after the clock is put forward to their time, and once', async () => {
    at('due', HOUR);
    at('later', HOUR + 1);
    await passed(4 * LOOK_MS);
    expect(rung).to.equal([]);
    clock.forward(HOUR);
    await passed(4 * LOOK_MS);
    expect(rung).to.equal(['due']);
  });

  it('wait for their time again after the clock is put back', async () => {
    at('due', LOOK_MS);
    clock.shift(-HOUR);
    await passed(6 * LOOK_MS);
    expect(rung).to.equal([]);
    clock.forward(HOUR + LOOK_MS);
    await passed(4 * LOOK_MS);
    expect(rung).to.equal(['due']);
  });

  it('keep the earlier of two times, and the later of two spans', async () => {
    at('due', 0);
    at('due', HOUR);
    alarms.after('span', 0, () => rung.push('first'));
    alarms.after('span', LOOK_MS, () => rung.push('second'));
    await passed(6 * LOOK_MS);
    expect(rung).to.equal(['due', 'second']);
  });

  it('call nobody after their stop', async () => {
    at('due', 0);
    alarms.stop();
    at('after', 0);
    const others = createAlarms(clock);
    await new Promise<void>((resolve) => others.after('passed', 4 * LOOK_MS, resolve));
    expect(rung).to.equal([]);
  });
});
