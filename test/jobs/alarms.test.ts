import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Alarms, createAlarms, LOOK_MS } from '../../src/jobs/alarms.js';
import { type FrozenClock, frozenClock } from '../harness/app.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const HOUR = 3600_000;

describe('alarms', () => {
  let clock: FrozenClock;
  let alarms: Alarms;
  let rung: string[];
  beforeEach(() => {
    clock = frozenClock();
    alarms = createAlarms(clock);
    rung = [];
  });

  const at = (name: string, ms: number) => alarms.at(name, clock.now() + ms, () => rung.push(name));

  it('are called at their time, and once', () => {
    at('due', HOUR);
    at('later', HOUR + 1);
    clock.forward(HOUR - 1);
    expect(rung).to.equal([]);
    clock.forward(1);
    expect(rung).to.equal(['due']);
    clock.forward(HOUR);
    expect(rung).to.equal(['due', 'later']);
  });

  it('are called soon after the clock is put forward to their time', () => {
    at('due', HOUR);
    clock.shift(HOUR);
    clock.forward(LOOK_MS);
    expect(rung).to.equal(['due']);
  });

  it('wait for their time again after the clock is put back', () => {
    at('due', 1000);
    clock.shift(-HOUR);
    clock.forward(HOUR + 999);
    expect(rung).to.equal([]);
    clock.forward(1);
    expect(rung).to.equal(['due']);
  });

  it('keep the earlier of two times, and the later of two spans', () => {
    at('due', 1);
    at('due', HOUR);
    alarms.after('span', 1, () => rung.push('first'));
    alarms.after('span', 2, () => rung.push('second'));
    clock.forward(2);
    expect(rung).to.equal(['due', 'second']);
  });

  it('call nobody after their stop', () => {
    at('due', 1);
    alarms.stop();
    at('after', 1);
    clock.forward(HOUR);
    expect(rung).to.equal([]);
    expect(clock.pending()).to.equal([]);
  });
});
