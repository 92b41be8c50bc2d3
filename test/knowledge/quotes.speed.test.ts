import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { extractJson, quoteFinder } from '../../src/knowledge/quotes.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a quote', () => {
  const found = (text: string, quote: string): string | null => {
    const place = quoteFinder(text)(quote);
    return place && text.slice(place.from, place.to);
  };

  it('is looked for in a short time, whatever the text', () => {
    const since = performance.now();
    const words = 'ab '.repeat(100_000);
    const marks = `a${'\u0301\u0323'.repeat(100_000)}`;
    expect(found('a'.repeat(200_000), 'a'.repeat(4000))).to.be.null();
    expect(found(words, `${'ab '.repeat(1300)}a`)).to.be.null();
    expect(found(marks, 'hello world')).to.be.null();
    expect(performance.now() - since).to.be.below(2000);
  });
});

describe('the JSON in the answer of a model', () => {
  it('is looked for in a short time, without an end', () => {
    const since = performance.now();
    expect(extractJson(`{"a":"${'\\"'.repeat(500_000)}`, 'a')).to.be.undefined();
    expect(extractJson('{'.repeat(500_000), 'a')).to.be.undefined();
    expect(performance.now() - since).to.be.below(2000);
  });
});
