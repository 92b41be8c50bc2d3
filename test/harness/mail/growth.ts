import { expect } from '@hapi/code';
import { threadMs } from '../../../src/kernel/threadtime.js';
import { limitMs } from '../../generated/block.js';

const TIMES = 4;
/** Maximum factor of the time for four times the input: 4 if linear, 16 if quadratic. */
const MOST = 9;
/** Shorter work is not compared, because its time is mostly noise, in milliseconds. */
const SHORT_MS = 150;
/** Longer work is measured once, in milliseconds. */
const LONG_MS = 5000;

/** Checks that the computing time grows linearly with the number of copies of a piece. */
export const expectLinear = async (
  work: (text: string) => unknown,
  piece: string,
  length: number,
): Promise<void> => {
  const textOf = (size: number): string => piece.repeat(Math.ceil(size / piece.length));
  const long = await timeOf(work, textOf(length));
  if (long < limitMs(SHORT_MS)) return;
  const short = await timeOf(work, textOf(length / TIMES));
  expect(
    long / short,
    `${JSON.stringify(piece.slice(0, 40))}: ${short} ms, ${long} ms`,
  ).to.be.below(MOST);
};

/** Shortest of three tries, because garbage collection and other threads only add to it. */
const timeOf = async (work: (text: string) => unknown, text: string): Promise<number> => {
  const tries: number[] = [];
  for (let at = 0; at < 3; at++) {
    const before = now();
    await work(text);
    tries.push(now() - before);
    const [first = 0] = tries;
    if (first < SHORT_MS || first > LONG_MS) break;
  }
  return Math.min(...tries);
};

const now = (): number => threadMs() ?? performance.now();
