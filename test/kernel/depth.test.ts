import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { isDeeper, isLarger, isTextDeeper } from '../../src/kernel/depth.js';

export const lab = Lab.script();
const { describe, it } = lab;

const nested = (depth: number): object =>
  JSON.parse(`${'{"a":'.repeat(depth - 1)}[]${'}'.repeat(depth - 1)}`);

describe('isDeeper', () => {
  it('counts arrays and objects', () => {
    expect(isDeeper({}, 1)).to.be.false();
    expect(isDeeper(nested(64), 64)).to.be.false();
    expect(isDeeper(nested(65), 64)).to.be.true();
    expect(isDeeper({ a: [[1]], b: 1 }, 2)).to.be.true();
  });

  it('does not overflow', () => {
    expect(isDeeper(nested(5000), 64)).to.be.true();
    expect(isDeeper(nested(5000), 10_000)).to.be.false();
  });
});

describe('isTextDeeper', () => {
  it('counts brackets outside of texts', () => {
    expect(isTextDeeper(`${'['.repeat(64)}${']'.repeat(64)}`, 64)).to.be.false();
    expect(isTextDeeper('[{'.repeat(33), 64)).to.be.true();
    expect(isTextDeeper('[],'.repeat(100), 1)).to.be.false();
    expect(isTextDeeper(`["${'['.repeat(100)}\\"${'['.repeat(100)}"]`, 1)).to.be.false();
    expect(isTextDeeper('"never closed[[[', 1)).to.be.false();
  });
});

describe('isLarger', () => {
  it('counts values at every depth', () => {
    expect(isLarger(null, 1)).to.be.false();
    expect(isLarger({ a: [1, 2], b: 'x' }, 5)).to.be.false();
    expect(isLarger({ a: [1, 2], b: 'x' }, 4)).to.be.true();
    expect(isLarger(nested(5000), 1000)).to.be.true();
    expect(isLarger(Array(1_000_000).fill(0), 1000)).to.be.true();
  });
});
