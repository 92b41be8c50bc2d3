import { getHeapSpaceStatistics } from 'node:v8';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { release } from '../../src/kernel/release.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MiB = 1024 * 1024;

/** What the young generation has taken of the machine's memory. */
const young = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;

describe('release', () => {
  it('gives back what the young generation has grown to', async () => {
    // It grows as long as much of what is made stays.
    const kept: object[] = [];
    while (young() < 16 * MiB) kept.push({ at: kept.length });
    kept.length = 0;
    await release();
    expect(young()).to.be.below(8 * MiB);
  });
});
