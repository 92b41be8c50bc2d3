import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createLanes } from '../../src/jobs/lanes.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('lanes', () => {
  it('gives each lane its turn, however much waits in another', () => {
    const lanes = createLanes(() => 10);
    lanes.add('busy', 1000);
    lanes.add('calm', 1);
    lanes.add('quiet', 2);
    expect(lanes.share(6)).to.equal([
      { lane: 'busy', count: 3 },
      { lane: 'calm', count: 1 },
      { lane: 'quiet', count: 2 },
    ]);
  });

  it('begins the next turn with those who have waited longest', () => {
    const lanes = createLanes(() => 10);
    for (const lane of ['a', 'b', 'c']) lanes.add(lane, 5);
    expect(lanes.share(1)).to.equal([{ lane: 'a', count: 1 }]);
    expect(lanes.share(1)).to.equal([{ lane: 'b', count: 1 }]);
    expect(lanes.share(1)).to.equal([{ lane: 'c', count: 1 }]);
    expect(lanes.share(1)).to.equal([{ lane: 'a', count: 1 }]);
  });

  it('keeps a lane within its own limit', () => {
    const lanes = createLanes((lane) => (lane === 'narrow' ? 1 : 5));
    lanes.add('narrow', 5);
    expect(lanes.share(20)).to.equal([{ lane: 'narrow', count: 1 }]);
    lanes.claimed('narrow');
    expect(lanes.share(20)).to.equal([]);
    lanes.ended('narrow');
    expect(lanes.share(20)).to.equal([{ lane: 'narrow', count: 1 }]);
  });

  it('leaves a lane alone whose jobs are due later, until it wakes', () => {
    const lanes = createLanes(() => 5);
    lanes.add('later', 2);
    lanes.dry('later', true);
    expect(lanes.share(20)).to.equal([]);
    expect(lanes.waiting('later')).to.equal(2);
    lanes.wake('later');
    expect(lanes.share(20)).to.equal([{ lane: 'later', count: 2 }]);
  });

  it('forgets a lane in which nothing waits', () => {
    const lanes = createLanes(() => 5);
    lanes.add('gone', 3);
    lanes.dry('gone', false);
    expect(lanes.totals()).to.equal({ waiting: 0, running: 0 });
    expect(lanes.share(20)).to.equal([]);
  });

  it('claims nothing of a lane that rests, whatever is added to it', () => {
    const lanes = createLanes(() => 5);
    lanes.add('ill', 1);
    lanes.rest('ill');
    lanes.add('ill', 1);
    lanes.wake('ill');
    expect(lanes.share(20)).to.equal([]);
    lanes.rested('ill');
    expect(lanes.share(20)).to.equal([{ lane: 'ill', count: 2 }]);
  });

  it('gives doubtful lanes one slot each and a part of all, and the others the rest', () => {
    const isDoubtful = (lane: string): boolean => lane.startsWith('new');
    const lanes = createLanes(() => 4, { isDoubtful, most: 2 });
    for (const lane of ['new 1', 'new 2', 'new 3', 'known']) lanes.add(lane, 5);
    expect(lanes.share(20)).to.equal([
      { lane: 'new 1', count: 1 },
      { lane: 'new 2', count: 1 },
      { lane: 'known', count: 4 },
    ]);
    lanes.claimed('new 1');
    lanes.claimed('new 2');
    expect(lanes.share(20)).to.equal([{ lane: 'known', count: 4 }]);
    lanes.ended('new 2');
    expect(lanes.share(20)).to.equal([
      { lane: 'new 3', count: 1 },
      { lane: 'known', count: 4 },
    ]);
  });

  it('counts a lane as doubtful until what began so has ended', () => {
    const known = new Set<string>();
    const lanes = createLanes(() => 4, { isDoubtful: (lane) => !known.has(lane), most: 1 });
    lanes.add('first', 3);
    lanes.add('second', 3);
    lanes.claimed('first');
    known.add('first');
    expect(lanes.share(20)).to.equal([]);
    lanes.ended('first');
    expect(lanes.share(20)).to.equal([
      { lane: 'second', count: 1 },
      { lane: 'first', count: 2 },
    ]);
  });
});
