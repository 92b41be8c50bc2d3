import { expect } from '@hapi/code';
import { threadMs } from '../../../src/kernel/threadtime.js';
import { limitMs } from '../../generated/block.js';

const TIMES = 4;
/** The most by which work on four times as much may take longer: 4 if it is linear, 16 if quadratic. */
const MOST = 9;
/** Work that ends within this time is not compared: what is measured would be chance. */
const SHORT_MS = 150;
/** Work that takes longer is measured once. */
const LONG_MS = 5000;

/**
 * Checks that work takes time in proportion to the length of a text that is made of copies of a piece:
 * the computing time of four times as much is compared.
 */
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

/** The shortest of three tries, as garbage collection and other threads only add to it. */
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
