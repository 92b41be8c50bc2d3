import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createWatch } from '../../src/kernel/watch.js';
import { until } from '../harness/app.js';
import { timersFired } from '../harness/turns.js';

export const lab = Lab.script();
const { describe, it } = lab;

const never = (): void => {
  throw new Error('no look was to fail');
};

describe('watch', () => {
  it('looks again, one look at a time, and no more once stopped', async () => {
    let looks = 0;
    let underWay = 0;
    let most = 0;
    const look = async (): Promise<void> => {
      underWay += 1;
      most = Math.max(most, underWay);
      await timersFired(5);
      underWay -= 1;
      looks += 1;
    };
    const watch = createWatch({ everyMs: 1, look, failed: never });
    watch.start();
    await until(
      async () => looks,
      (seen) => seen >= 3,
    );
    await watch.stop();
    const seen = looks;
    await timersFired(20);
    expect({ most, underWay, since: looks - seen }).to.equal({ most: 1, underWay: 0, since: 0 });
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
          await timersFired(20);
          isEnded = true;
          resolve();
        });
      });
    const watch = createWatch({ everyMs: 1, look, failed: never });
    watch.start();
    await begun;
    await watch.stop();
    expect(isEnded).to.be.true();
  });

  it('says what a look failed with, and looks again', async () => {
    const said: unknown[] = [];
    const broken = new Error('broken');
    const look = async (): Promise<void> => {
      throw broken;
    };
    const watch = createWatch({ everyMs: 1, look, failed: (error) => said.push(error) });
    watch.start();
    await until(
      async () => said.length,
      (times) => times >= 2,
    );
    await watch.stop();
    expect(said[0]).to.shallow.equal(broken);
  });

  it('never looks where it is stopped before the first look', async () => {
    let looks = 0;
    const look = async (): Promise<void> => void looks++;
    const watch = createWatch({ everyMs: 1, afterMs: 60_000, look, failed: never });
    watch.start();
    await watch.stop();
    expect(looks).to.equal(0);
  });
});
