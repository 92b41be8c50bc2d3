import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { fuseHits, scoreSemanticHits } from '../../src/knowledge/procedures/fuse.js';
import type { Hit } from '../../src/knowledge/procedures/titlerepeats.js';

export const lab = Lab.script();
const { describe, it } = lab;

const hitsOf = (fits: Record<string, number>): Hit[] =>
  Object.entries(fits).map(([entryId, fit]) => ({ entryId, number: 0, fit }));
const shown = (hits: ReturnType<typeof fuseHits>) =>
  hits.map(({ entryId, score, matched }) => [
    entryId,
    Math.round(score * 1000) / 1000,
    matched.join(),
  ]);
const fuse = (lists: Partial<Parameters<typeof fuseHits>[0]>) =>
  shown(fuseHits({ words: [], parts: [], meaning: [], meaningWeight: 0, ...lists }));

describe('hits of several ways to search', () => {
  it('are scored beside the best of their way', () => {
    expect(fuse({ words: hitsOf({ a: 8, b: 4, c: 1 }) })).to.equal([
      ['a', 1, 'word'],
      ['b', 0.5, 'word'],
      ['c', 0.125, 'word'],
    ]);
  });

  it('by meaning alone have the cosine, and a low score among those by words', () => {
    const meaning = hitsOf({ a: 0.9, b: 0.6, c: 0.5 });
    expect(shown(scoreSemanticHits(meaning))).to.equal([
      ['a', 0.9, 'meaning'],
      ['b', 0.6, 'meaning'],
      ['c', 0.5, 'meaning'],
    ]);
    expect(fuse({ meaning, meaningWeight: 0.25 })).to.equal([
      ['a', 0.2, 'meaning'],
      ['b', 0.05, 'meaning'],
      ['c', 0, 'meaning'],
    ]);
  });

  it('have the sum of both, the meaning by its weight', () => {
    const words = hitsOf({ a: 10, b: 9, c: 2 });
    const meaning = hitsOf({ b: 0.8, d: 0.7, c: 0.4 });
    expect(fuse({ words, meaning, meaningWeight: 0.5 })).to.equal([
      ['b', 0.933, 'word,meaning'],
      ['a', 0.667, 'word'],
      ['d', 0.25, 'meaning'],
      ['c', 0.133, 'word,meaning'],
    ]);
  });

  it('by parts of words come after all whole words, and count once', () => {
    const words = hitsOf({ a: 10, b: 5 });
    const parts = hitsOf({ c: 40, a: 20, d: 10 });
    expect(fuse({ words, parts })).to.equal([
      ['a', 1, 'word'],
      ['b', 0.5, 'word'],
      ['c', 0.5, 'part'],
      ['d', 0.125, 'part'],
    ]);
    expect(fuse({ parts: hitsOf({ c: 40, d: 10 }) })).to.equal([
      ['c', 1, 'part'],
      ['d', 0.25, 'part'],
    ]);
  });

  it('by parts of words come after what is nearest by its meaning', () => {
    // `carries` has a part of `car doctor`, and the mechanic is what was meant.
    const parts = hitsOf({ carries: 3 });
    const meaning = hitsOf({ mechanic: 0.6, other: 0.5, carries: 0.45 });
    expect(fuse({ parts, meaning, meaningWeight: 0.3 })).to.equal([
      ['mechanic', 0.231, 'meaning'],
      ['carries', 0.115, 'part,meaning'],
      ['other', 0.077, 'meaning'],
    ]);
  });

  it('are as good as each other where all fit alike', () => {
    const meaning = hitsOf({ a: 0.4, b: 0.4 });
    expect(fuse({ meaning, meaningWeight: 1 })).to.equal([
      ['a', 0.5, 'meaning'],
      ['b', 0.5, 'meaning'],
    ]);
    expect(fuse({})).to.equal([]);
  });
});
