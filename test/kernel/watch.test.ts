import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createWatch } from '../../src/kernel/watch.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';

export const lab = Lab.script();
const { describe, it } = lab;

const EVERY_MS = 60_000;

const never = (): void => {
  throw new Error('no look was to fail');
};

describe('watch', () => {
  it('looks again, one look at a time, and no more once stopped', async () => {
    const clock = frozenClock();
    let looks = 0;
    let release = (): void => undefined;
    const look = (): Promise<void> =>
      new Promise((resolve) => {
        looks += 1;
        release = resolve;
      });
    const watch = createWatch({ everyMs: EVERY_MS, look, failed: never, clock });
    watch.start();
    clock.forward(0);
    await runLoopTurns();
    // It waits for nothing while it looks.
    expect({ looks, pending: clock.pending() }).to.equal({ looks: 1, pending: [] });
    release();
    await clock.waiting(EVERY_MS);
    clock.forward(EVERY_MS);
    await runLoopTurns();
    expect(looks).to.equal(2);
    const stopped = watch.stop();
    release();
    await stopped;
    expect({ looks, pending: clock.pending() }).to.equal({ looks: 2, pending: [] });
  });

  it('has ended its look when it is stopped, and tells it to hurry', async () => {
    let isEnded = false;
    let began = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      began = resolve;
    });
    const look = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        began();
        signal.addEventListener('abort', async () => {
          await runLoopTurns();
          isEnded = true;
          resolve();
        });
      });
    const watch = createWatch({ everyMs: EVERY_MS, look, failed: never, clock: frozenClock() });
    watch.start();
    await begun;
    await watch.stop();
    expect(isEnded).to.be.true();
  });

  it('says what a look failed with, and looks again', async () => {
    const clock = frozenClock();
    const said: unknown[] = [];
    const broken = new Error('broken');
    const look = async (): Promise<void> => {
      throw broken;
    };
    const failed = (error: unknown) => said.push(error);
    const watch = createWatch({ everyMs: EVERY_MS, look, failed, clock });
    watch.start();
    for (const _ of [1, 2]) {
      await clock.waiting(EVERY_MS);
      clock.forward(EVERY_MS);
    }
    await clock.waiting(EVERY_MS);
    await watch.stop();
    expect(said).to.equal([broken, broken, broken]);
  });

  it('never looks where it is stopped before the first look', async () => {
    const clock = frozenClock();
    let looks = 0;
    const look = async (): Promise<void> => void looks++;
    const watch = createWatch({ everyMs: 1, afterMs: EVERY_MS, look, failed: never, clock });
    watch.start();
    clock.forward(EVERY_MS - 1);
    await watch.stop();
    expect({ looks, pending: clock.pending() }).to.equal({ looks: 0, pending: [] });
  });
});
