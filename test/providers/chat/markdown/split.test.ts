import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { splitText, wholeCharacters } from '../../../../src/providers/chat/markdown/split.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('splitText', () => {
  it('leaves a text that fits, and makes nothing of one that is blank', () => {
    expect(splitText('hello', 5)).to.equal(['hello']);
    expect(splitText('', 5)).to.equal([]);
    expect(splitText(' \n ', 5)).to.equal([]);
  });

  it('parts at the end of a line, else between words, else where it must', () => {
    expect(splitText('one two\nthree four', 12)).to.equal(['one two\n', 'three four']);
    expect(splitText('one two three', 9)).to.equal(['one two ', 'three']);
    expect(splitText('onetwothree', 4)).to.equal(['onet', 'woth', 'ree']);
    expect(splitText('a\nbcdefghij', 8)).to.equal(['a\nbcdefg', 'hij']);
  });

  it('never parts a character, and mends those that came in halves', () => {
    for (let most = 1; most < 12; most++) {
      const pieces = splitText('a🦊b🦊🦊🦊cd', most);
      expect(pieces.join('')).to.equal('a🦊b🦊🦊🦊cd');
      for (const piece of pieces) expect(wholeCharacters(piece)).to.equal(piece);
      if (most > 1) expect(pieces.every(({ length }) => length <= most)).to.be.true();
    }
    expect(splitText('a\ud83eb', 9)).to.equal(['a\ufffdb']);
  });

  it('goes by the measure that it is given', () => {
    const measure = (text: string) => text.replaceAll('&', '&amp;').length;
    expect(splitText('&&&&', 10, measure)).to.equal(['&&', '&&']);
  });

  it('parts a megabyte', () => {
    const text = `${'x'.repeat(99)}\n`.repeat(10_000);
    expect(splitText(text, 4096).join('')).to.equal(text);
  });
});
