import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createTimeLimit } from '../../src/hooks/timelimit.js';
import { threadMs } from '../../src/kernel/threadtime.js';

export const lab = Lab.script();
const { describe, it } = lab;

const untold = threadMs() === null ? ' (skipped: the system does not tell it)' : '';

describe('a budget of time', () => {
  it('is spent by what is computed', () => {
    const timeLimit = createTimeLimit(20);
    expect(timeLimit.left()).to.be.within(1, 20);
    const since = performance.now();
    while (!timeLimit.isSpent());
    expect(performance.now() - since).to.be.at.least(19);
    expect(timeLimit.left()).to.equal(1);
  });

  it(`is not spent by waiting for a processor${untold}`, { skip: untold !== '' }, async () => {
    // Longer than what a process computes by itself in the wait, such as a collection of garbage.
    const timeLimit = createTimeLimit(200);
    await sleep(300);
    expect([timeLimit.isSpent(), timeLimit.left() > 1]).to.equal([false, true]);
  });

  it('ends after forty times as long all the same', async () => {
    const timeLimit = createTimeLimit(2);
    await sleep(100);
    expect(timeLimit.isSpent()).to.be.true();
  });
});
