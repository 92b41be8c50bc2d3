import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { readWithTimeout } from '../../src/capabilities/readtimeout.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';

export const lab = Lab.script();
const { describe, it } = lab;

const PATIENCE_MS = 5000;

describe('the readings of a folder', () => {
  it('take turns, so that one thread is at it', async () => {
    let atOnce = 0;
    let most = 0;
    const read = async (): Promise<string> => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      return 'read';
    };
    const all = [1, 2, 3].map(() => readWithTimeout('/turns', read, 'late'));
    expect([await Promise.all(all), most]).to.equal([['read', 'read', 'read'], 1]);
    expect(await readWithTimeout('/turns', async () => 'other', 'late')).to.equal('other');
  });

  it('are late where it hangs, and begin no other until that has ended', async () => {
    let answer = (_text: string): void => undefined;
    const hanging = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const clock = frozenClock();
    let begun = 0;
    const ask = (read: () => Promise<string>) => {
      const counted = () => {
        begun++;
        return read();
      };
      return readWithTimeout('/hangs', counted, 'late', clock);
    };
    const first = ask(() => hanging);
    const second = ask(async () => 'second');
    await runLoopTurns(1);
    clock.forward(PATIENCE_MS);
    expect([await first, await second, begun]).to.equal(['late', 'late', 1]);
    expect([await ask(async () => 'third'), begun]).to.equal(['late', 1]);
    expect(await readWithTimeout('/other', async () => 'other', 'late')).to.equal('other');
    answer('at last');
    await hanging;
    await new Promise((resolve) => setImmediate(resolve));
    expect([await ask(async () => 'fourth'), begun]).to.equal(['fourth', 2]);
  });

  it('fail with their own error, and the next one is tried', async () => {
    const failing = () => Promise.reject(new Error('no such folder'));
    await expect(readWithTimeout('/fails', failing, 'late')).to.reject('no such folder');
    expect(await readWithTimeout('/fails', async () => 'there', 'late')).to.equal('there');
  });
});
