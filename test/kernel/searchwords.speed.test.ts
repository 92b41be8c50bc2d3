import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { searchWords } from '../../src/kernel/searchwords.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('searchWords', () => {
  it('take a megabyte of anything in time', async () => {
    const since = performance.now();
    for (const piece of ['a', 'a ', '東', '\u0301', 'é', '🙂', '\u0000']) {
      await searchWords(piece.repeat(2 ** 20 / piece.length));
    }
    expect(performance.now() - since).to.be.below(10_000);
  });
});
