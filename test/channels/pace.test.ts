import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createChatPace } from '../../src/channels/pace.js';
import { type FrozenClock, frozenClock } from '../harness/clock.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

const { signal } = new AbortController();
const FIVE = [1, 2, 3, 4, 5];

describe('pace', () => {
  let clock: FrozenClock;
  let pace: ReturnType<typeof createChatPace>;
  beforeEach(() => {
    clock = frozenClock();
    pace = createChatPace(clock);
  });
  const sendFive = () => Promise.all(FIVE.map(() => pace('a', signal)));

  it('lets five messages pass at once, and one a second after that, in each chat', async () => {
    await sendFive();
    const passed: string[] = [];
    const later = ['sixth', 'seventh'].map((name) =>
      pace('a', signal).then(() => passed.push(name)),
    );
    expect(clock.pending()).to.equal([1000, 2000]);
    await pace('b', signal);
    expect(passed).to.equal([]);
    clock.forward(1000);
    await later[0];
    expect(passed).to.equal(['sixth']);
    clock.forward(1000);
    await later[1];
    expect(passed).to.equal(['sixth', 'seventh']);
  });

  it('lets five pass again after some silence', async () => {
    await sendFive();
    clock.forward(5000);
    await sendFive();
    expect(clock.pending()).to.equal([]);
  });

  it('waits no longer once it is told to stop, and that message has had its turn', async () => {
    await sendFive();
    const aborter = new AbortController();
    const waiting = pace('a', aborter.signal);
    aborter.abort();
    await expect(waiting).to.reject();
    expect(clock.pending()).to.equal([]);
    void pace('a', signal);
    expect(clock.pending()).to.equal([2000]);
  });

  it('starts anew when the clock is set back', async () => {
    await sendFive();
    clock.shift(-3600_000);
    await sendFive();
    expect(clock.pending()).to.equal([]);
  });
});
