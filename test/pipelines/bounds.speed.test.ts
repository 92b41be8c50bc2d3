import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../harness/suite.js';
import { ask, openBoundsStage } from './boundsstage.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('bounds of runs', () => {
  const stage = openForSuite(lab, openBoundsStage);

  it('judge many slow conditions without holding up the daemon', async () => {
    stage.target.answer = (response) => response.end('a'.repeat(40));
    const when = [
      { field: 'stages.read.output.body', operator: 'matches' as const, value: '(a|a)*b' },
    ];
    const slow = Array.from({ length: 40 }, (_, at) => ({
      ...ask,
      key: `s${at}`,
      needs: ['read'],
      when,
    }));
    /** Processor time in ms, which a turn of the loop spends whatever else the machine does. */
    const spent = (): number => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    let longest = 0;
    let last = spent();
    const timer = setInterval(() => {
      longest = Math.max(longest, spent() - last);
      last = spent();
    }, 5);
    const id = await stage.start([stage.get('read', '/a'), ...slow]);
    const run = await stage.reach(id, 'completed');
    clearInterval(timer);
    expect(run.stages.slice(1).every(({ status }) => status === 'skipped')).to.be.true();
    // Each takes 25 ms at most; together they would take a second.
    expect(longest < 500).to.be.true();
  });
});
