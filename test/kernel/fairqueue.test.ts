import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createFairQueue, QueueFull } from '../../src/kernel/fairqueue.js';
import { untilAtLeast } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('turns', () => {
  let order: string[];
  let release: (() => void)[];
  beforeEach(() => {
    order = [];
    release = [];
  });

  /** One at once, three may wait; work ends when it is told to. */
  const open = () => createFairQueue({ atOnce: 1, waiting: 3 });
  interface Position {
    isFirst?: boolean;
    instead?: () => Promise<void>;
  }
  const ask = (
    turns: ReturnType<typeof open>,
    asker: string,
    what = asker,
    position: Position = {},
  ) => {
    const work = async () => {
      order.push(what);
      await new Promise<void>((resolve) => release.push(resolve));
    };
    const done = turns.take(asker, work, position);
    return done.catch((error) => {
      if (!(error instanceof QueueFull)) throw error;
      order.push(`${what} refused`);
    });
  };
  const finish = async (all: Promise<unknown>[]) => {
    let isOver = false;
    const over = Promise.all(all).then(() => {
      isOver = true;
    });
    while (!isOver) {
      release.shift()?.();
      await new Promise(setImmediate);
    }
    return over;
  };

  it('lets so many run at once and no more', async () => {
    const turns = createFairQueue({ atOnce: 2, waiting: 3 });
    const all = ['a', 'b', 'c'].map((asker) => ask(turns, asker));
    await new Promise(setImmediate);
    expect(order).to.equal(['a', 'b']);
    await finish(all);
    expect(order).to.equal(['a', 'b', 'c']);
  });

  it('lets so much of one asker run at once, and others beside it', async () => {
    const turns = createFairQueue({ atOnce: 2, each: 1, waiting: 3 });
    const all = [ask(turns, 'a', 'a1'), ask(turns, 'a', 'a2'), ask(turns, 'b')];
    await new Promise(setImmediate);
    expect(order).to.equal(['a1', 'b']);
    all.push(ask(turns, 'c'));
    release.pop()?.();
    await new Promise(setImmediate);
    expect(order).to.equal(['a1', 'b', 'c']);
    release.pop()?.();
    await new Promise(setImmediate);
    expect(order).to.equal(['a1', 'b', 'c']);
    await finish(all);
    expect(order).to.equal(['a1', 'b', 'c', 'a2']);
  });

  it('goes round among askers, and lets the newest of equals go first', async () => {
    const turns = open();
    const all = [
      ask(turns, 'x'),
      ask(turns, 'a', 'a1'),
      ask(turns, 'a', 'a2'),
      ask(turns, 'b', 'b1'),
    ];
    await finish(all);
    expect(order).to.equal(['x', 'b1', 'a1', 'a2']);
  });

  it('lets the oldest of equals go first where that is wanted, whatever comes after', async () => {
    const turns = createFairQueue({ atOnce: 1, waiting: 100, isOldestFirst: true });
    const all = ['1', '2', '3', '4'].map((what) => ask(turns, 'ada', what));
    // Each that ends is followed by a further one, as from a lane of operations.
    for (const what of ['5', '6', '7', '8']) {
      await untilAtLeast(async () => release.length, 1);
      release.shift()?.();
      all.push(ask(turns, 'ada', what));
    }
    await finish(all);
    expect(order).to.equal(['1', '2', '3', '4', '5', '6', '7', '8']);
  });

  it('lets who was blamed go last', async () => {
    const turns = open();
    turns.blame('bad');
    await finish([ask(turns, 'x'), ask(turns, 'good'), ask(turns, 'bad')]);
    expect(order).to.equal(['x', 'good', 'bad']);
  });

  it('refuses the last of the line where too many wait', async () => {
    const turns = open();
    for (const _ of ['once', 'twice']) turns.blame('bad');
    const all = [
      ask(turns, 'x'),
      ask(turns, 'a', 'a1'),
      ask(turns, 'a', 'a2'),
      ask(turns, 'bad'),
      ask(turns, 'b'),
      ask(turns, 'bad', 'bad again'),
    ];
    await finish(all);
    expect(order).to.equal(['x', 'bad refused', 'bad again refused', 'b', 'a1', 'a2']);
  });

  it('refuses the oldest of equals', async () => {
    const turns = open();
    await finish(['x', 'a', 'b', 'c', 'd'].map((asker) => ask(turns, asker)));
    expect(order).to.equal(['x', 'a refused', 'd', 'c', 'b']);
  });

  it('lets what is first go before all others, and refuses it last', async () => {
    const turns = open();
    turns.blame('known');
    const all = [
      ask(turns, 'x'),
      ask(turns, 'known', 'known 1', { isFirst: true }),
      ask(turns, 'known', 'known 2', { isFirst: true }),
      ...['a', 'b', 'c'].map((asker) => ask(turns, asker)),
    ];
    await finish(all);
    expect(order).to.equal(['x', 'a refused', 'b refused', 'known 1', 'known 2', 'c']);
  });

  /** One that could do without a turn. */
  const askIdly = (turns: ReturnType<typeof open>, asker: string) =>
    ask(turns, asker, `${asker} by turn`, {
      instead: async () => {
        order.push(`${asker} instead`);
      },
    });

  it('neither refuses nor delays anybody for what needs no turn', async () => {
    const turns = open();
    const names = Array.from({ length: 20 }, (_, n) => `idle ${n}`);
    const all = [ask(turns, 'x'), ask(turns, 'a'), ...names.map((name) => askIdly(turns, name))];
    await new Promise(setImmediate);
    expect(order).to.equal(['x']);
    release.shift()?.();
    await new Promise(setImmediate);
    const idle = names.map((name) => `${name} instead`);
    expect([order.length, [...order].sort()]).to.equal([22, ['x', 'a', ...idle].sort()]);
    await finish(all);
  });

  it('lets what needs no turn wait, or be refused, where anybody would be', async () => {
    const turns = open();
    for (const _ of ['once', 'twice']) turns.blame('idle');
    const all = [ask(turns, 'x'), ask(turns, 'a'), askIdly(turns, 'idle'), ask(turns, 'b')];
    await finish([...all]);
    expect(order).to.equal(['x', 'b', 'a', 'idle by turn']);
    order = [];
    await finish(
      ['x', 'a', 'b', 'c'].map((name) => ask(turns, name)).concat(askIdly(turns, 'idle')),
    );
    expect(order).to.equal(['x', 'idle by turn refused', 'c', 'b', 'a']);
  });

  it('hands the turn on where work fails', async () => {
    const turns = open();
    const failing = turns.take('a', async () => {
      throw new Error('broken');
    });
    const next = ask(turns, 'b');
    await expect(failing).to.reject('broken');
    await finish([next]);
    expect(order).to.equal(['b']);
  });
});
