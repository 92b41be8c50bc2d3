import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { closestWords, nearest } from '../../src/kernel/nearest.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('nearest', () => {
  it('finds the word that was meant', () => {
    const words = ['list', 'get', 'delete', 'rotate-secret'];
    expect(['lst', 'lits', 'gte', 'delet', 'rotate'].map((word) => nearest(word, words))).to.equal([
      'list',
      'list',
      'get',
      'delete',
      undefined,
    ]);
  });

  it('guesses nothing where nothing is near', () => {
    expect(nearest('xyzzy', ['list', 'get'])).to.be.undefined();
    expect(nearest('', ['list'])).to.be.undefined();
  });
});

describe('nearestFew', () => {
  it('returns the words in the order of their distance, however far they are', () => {
    const words = ['http.request', 'time.now', 'tasks.list', 'notify.send'];
    expect(closestWords('tiem.now', words, 2)).to.equal(['time.now', 'tasks.list']);
    expect(closestWords('x', ['one'], 3)).to.equal(['one']);
  });
});
