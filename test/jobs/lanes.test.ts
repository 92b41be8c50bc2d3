import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createBatchSize } from '../../src/jobs/batchsize.js';
import { createLanes } from '../../src/jobs/lanes.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('lanes', () => {
  it('gives each lane its turn, however much waits in another', () => {
    const lanes = createLanes({ limitOf: () => 10 });
    lanes.add('busy', 1000);
    lanes.add('calm', 1);
    lanes.add('quiet', 2);
    expect(lanes.share(6)).to.equal([
      { lane: 'busy', count: 3, isBatch: false },
      { lane: 'calm', count: 1, isBatch: false },
      { lane: 'quiet', count: 2, isBatch: false },
    ]);
  });

  it('begins the next turn with those who have waited longest', () => {
    const lanes = createLanes({ limitOf: () => 10 });
    for (const lane of ['a', 'b', 'c']) lanes.add(lane, 5);
    expect(lanes.share(1)).to.equal([{ lane: 'a', count: 1, isBatch: false }]);
    expect(lanes.share(1)).to.equal([{ lane: 'b', count: 1, isBatch: false }]);
    expect(lanes.share(1)).to.equal([{ lane: 'c', count: 1, isBatch: false }]);
    expect(lanes.share(1)).to.equal([{ lane: 'a', count: 1, isBatch: false }]);
  });

  it('keeps a lane within its own limit', () => {
    const lanes = createLanes({ limitOf: (lane) => (lane === 'narrow' ? 1 : 5) });
    lanes.add('narrow', 5);
    expect(lanes.share(20)).to.equal([{ lane: 'narrow', count: 1, isBatch: false }]);
    lanes.claimed('narrow');
    expect(lanes.share(20)).to.equal([]);
    lanes.ended('narrow');
    expect(lanes.share(20)).to.equal([{ lane: 'narrow', count: 1, isBatch: false }]);
  });

  it('gives a lane whose jobs run together one batch at a time, beside all others', () => {
    const lanes = createLanes({
      limitOf: () => 2,
      batchOf: (lane) => (lane.startsWith('batch') ? 256 : 0),
    });
    lanes.add('batch 1', 1000);
    lanes.add('alone', 5);
    lanes.add('batch 2', 3);
    const all = [
      { lane: 'alone', count: 1, isBatch: false },
      { lane: 'batch 1', count: 256, isBatch: true },
      { lane: 'batch 2', count: 3, isBatch: true },
    ];
    expect(lanes.share(1)).to.equal(all);
    lanes.batches.claimed('batch 1', 256);
    lanes.batches.claimed('batch 2', 3);
    expect([lanes.running(), lanes.totals()]).to.equal([0, { waiting: 1006, running: 2 }]);
    expect(lanes.share(0)).to.equal([]);
    lanes.batches.ended('batch 2', 0);
    lanes.batches.ended('batch 1', 0);
    expect(lanes.isEmpty('batch 2')).to.be.true();
    // Another lane may want its turn again soon, and would wait for all of this batch.
    expect(lanes.share(0)).to.equal([{ lane: 'batch 1', count: 48, isBatch: true }]);
  });

  it('makes batches of 48 for a second after the batch of another lane', () => {
    let now = 5000;
    const size = createBatchSize(() => now);
    const all = Number.POSITIVE_INFINITY;
    size.begun('one');
    size.begun('one');
    expect(size.most()).to.equal(all);
    size.begun('other');
    expect(size.most()).to.equal(48);
    now += 900;
    size.begun('other');
    expect(size.most()).to.equal(48);
    now += 100;
    expect(size.most()).to.equal(all);
    size.begun('one');
    expect(size.most()).to.equal(48);
  });

  it('makes the batches of a lane smaller whose runs take long, and larger again', () => {
    const lanes = createLanes({ limitOf: () => 2, batchOf: () => 256 });
    lanes.add('slow', 1000);
    const next = () => lanes.share(0)[0]?.count ?? 0;
    const end = (left: number): void => {
      lanes.batches.claimed('slow', next());
      lanes.batches.ended('slow', left);
    };
    end(253);
    expect([next(), lanes.waiting('slow')]).to.equal([6, 997]);
    end(5);
    expect([next(), lanes.waiting('slow')]).to.equal([2, 996]);
    end(2);
    expect(next()).to.equal(1);
    end(0);
    expect(next()).to.equal(4);
    for (let n = 0; n < 4; n++) end(0);
    expect(next()).to.equal(256);
    expect(lanes.totals()).to.equal({ waiting: 655, running: 0 });
  });

  it('begins as few batches as it is told', () => {
    const lanes = createLanes({ limitOf: () => 2, batchOf: () => 256 });
    for (const lane of ['a', 'b', 'c']) lanes.add(lane, 100);
    expect(lanes.share(0, { lanes: 2, jobs: 4 })).to.equal([
      { lane: 'a', count: 2, isBatch: true },
      { lane: 'b', count: 2, isBatch: true },
    ]);
    expect(lanes.share(0, { lanes: 1, jobs: 1 })).to.equal([
      { lane: 'c', count: 1, isBatch: true },
    ]);
    expect(lanes.share(0, { lanes: 0, jobs: 0 })).to.equal([]);
  });

  it('begins nothing in a lane while its batch runs, although its jobs run one by one by now', () => {
    let most = 256;
    const lanes = createLanes({ limitOf: () => 1000, batchOf: () => most });
    lanes.add('hook', 300);
    expect(lanes.share(20)).to.equal([{ lane: 'hook', count: 256, isBatch: true }]);
    lanes.batches.claimed('hook', 256);
    most = 0;
    lanes.add('hook', 10);
    expect(lanes.share(20)).to.equal([]);
    lanes.batches.ended('hook', 200);
    expect(lanes.waiting('hook')).to.equal(254);
    expect(lanes.share(20)).to.equal([{ lane: 'hook', count: 20, isBatch: false }]);
  });

  it('limits no lane that is crowded, and counts it nowhere', () => {
    const lanes = createLanes({ limitOf: () => 2, batchOf: () => 256 });
    lanes.add('crowded', 50_000);
    for (const lane of ['a', 'b']) lanes.add(lane, 100);
    expect(lanes.share(0, { lanes: 4, jobs: 6 })).to.equal([
      { lane: 'crowded', count: 256, isBatch: true },
      { lane: 'a', count: 2, isBatch: true },
      { lane: 'b', count: 2, isBatch: true },
    ]);
    expect(['crowded', 'a'].map(lanes.batches.isCrowded)).to.equal([true, false]);
    lanes.batches.claimed('crowded', 256);
    expect(lanes.batches.isCrowded('crowded')).to.be.false();
  });

  it('runs the jobs of a lane one by one while some cannot run together', () => {
    const lanes = createLanes({ limitOf: () => 2, batchOf: () => 256 });
    lanes.add('hook', 10);
    lanes.batches.mixed('hook', true);
    expect(lanes.share(20)).to.equal([{ lane: 'hook', count: 2, isBatch: false }]);
    lanes.claimed('hook');
    lanes.batches.mixed('hook', false);
    expect(lanes.share(20)).to.equal([{ lane: 'hook', count: 9, isBatch: true }]);
  });

  it('has a limit for all batches at once', () => {
    const lanes = createLanes({ limitOf: () => 2, batchOf: () => 256 });
    for (const lane of ['a', 'b', 'c']) lanes.add(lane, 300);
    expect(lanes.share(20).map(({ lane, count }) => [lane, count])).to.equal([
      ['a', 256],
      ['b', 256],
    ]);
    expect(lanes.share(20).map(({ lane }) => lane)).to.equal(['c', 'a']);
  });

  it('leaves a lane alone whose jobs are due later, until it wakes', () => {
    const lanes = createLanes({ limitOf: () => 5 });
    lanes.add('later', 2);
    lanes.dry('later', true);
    expect(lanes.share(20)).to.equal([]);
    expect(lanes.waiting('later')).to.equal(2);
    lanes.wake('later');
    expect(lanes.share(20)).to.equal([{ lane: 'later', count: 2, isBatch: false }]);
  });

  it('forgets a lane in which nothing waits', () => {
    const lanes = createLanes({ limitOf: () => 5 });
    lanes.add('gone', 3);
    lanes.dry('gone', false);
    expect(lanes.totals()).to.equal({ waiting: 0, running: 0 });
    expect(lanes.share(20)).to.equal([]);
  });

  it('claims nothing of a lane that rests, whatever is added to it', () => {
    const lanes = createLanes({ limitOf: () => 5 });
    lanes.add('ill', 1);
    lanes.rest('ill');
    lanes.add('ill', 1);
    lanes.wake('ill');
    expect(lanes.share(20)).to.equal([]);
    lanes.rested('ill');
    expect(lanes.share(20)).to.equal([{ lane: 'ill', count: 2, isBatch: false }]);
  });

  it('gives doubtful lanes one slot each and a part of all, and the others the rest', () => {
    const isDoubtful = (lane: string): boolean => lane.startsWith('new');
    const lanes = createLanes({ limitOf: () => 4, slowLanes: { isDoubtful, most: 2 } });
    for (const lane of ['new 1', 'new 2', 'new 3', 'known']) lanes.add(lane, 5);
    expect(lanes.share(20)).to.equal([
      { lane: 'new 1', count: 1, isBatch: false },
      { lane: 'new 2', count: 1, isBatch: false },
      { lane: 'known', count: 4, isBatch: false },
    ]);
    lanes.claimed('new 1');
    lanes.claimed('new 2');
    expect(lanes.share(20)).to.equal([{ lane: 'known', count: 4, isBatch: false }]);
    lanes.ended('new 2');
    expect(lanes.share(20)).to.equal([
      { lane: 'new 3', count: 1, isBatch: false },
      { lane: 'known', count: 4, isBatch: false },
    ]);
  });

  it('counts a lane as doubtful until what began so has ended', () => {
    const known = new Set<string>();
    const lanes = createLanes({
      limitOf: () => 4,
      slowLanes: { isDoubtful: (lane) => !known.has(lane), most: 1 },
    });
    lanes.add('first', 3);
    lanes.add('second', 3);
    lanes.claimed('first');
    known.add('first');
    expect(lanes.share(20)).to.equal([]);
    lanes.ended('first');
    expect(lanes.share(20)).to.equal([
      { lane: 'second', count: 1, isBatch: false },
      { lane: 'first', count: 2, isBatch: false },
    ]);
  });
});
