import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  cell,
  cutToWidth,
  oneLine,
  padded,
  safe,
  safeJson,
  wrapProse,
  wrapped,
} from '../../cli/text.js';
import { computeTextWidth } from '../../src/kernel/width.js';

export const lab = Lab.script();
const { describe, it } = lab;

const nasty = 'a\u001b[2Jb\u009bc\u202ed\u0007\re';

describe('text', () => {
  it('shows what a terminal would obey, and keeps lines', () => {
    expect(safe(nasty)).to.equal('a\\x1b[2Jb\\x9bc\\u202ed\\x07\\x0de');
    expect(safe('one\ntwo')).to.equal('one\ntwo');
    expect([safe('one\ttwo'), oneLine('one\ttwo')]).to.equal(['one    two', 'one\\x09two']);
    expect(oneLine('one\ntwo')).to.equal('one\\ntwo');
  });

  it('escapes the same in JSON without changing what it means', () => {
    const json = safeJson({ nasty });
    expect(json).to.match(/^[\x20-\x7e]*$/);
    expect(JSON.parse(json)).to.equal({ nasty });
  });

  it('writes any value as one cell that can be read back', () => {
    expect(cell('a\tb\nc\\d')).to.equal('a\\tb\\nc\\\\d');
    expect([null, undefined, 0, false, ['x'], { y: 1 }].map(cell)).to.equal([
      '',
      '',
      '0',
      'false',
      '["x"]',
      '{"y":1}',
    ]);
  });

  it('counts the columns of a terminal', () => {
    expect(['abc', 'é', 'e\u0301', '日本', '👩‍💻', '한'].map(computeTextWidth)).to.equal([
      3, 1, 1, 4, 2, 2,
    ]);
  });

  it('cuts by columns and never within a character', () => {
    expect(cutToWidth('hello', 5)).to.equal('hello');
    expect(cutToWidth('hello', 4)).to.equal('hel…');
    expect(cutToWidth('日本語', 4)).to.equal('日…');
  });

  it('pads by columns', () => {
    expect([padded('日', 4), padded('long', 2)]).to.equal(['日  ', 'long']);
  });

  it('breaks lines at spaces, and a longer word within', () => {
    expect(wrapped('one two three', 8)).to.equal(['one two', 'three']);
    expect(wrapped('a abcdefghij', 5)).to.equal(['a', 'abcde', 'fghij']);
    expect(wrapped('', 5)).to.equal(['']);
  });
});

describe('wrapProse', () => {
  it('breaks a sentence at its words, and no command', () => {
    const text =
      'One of 2 files is damaged: it has another checksum. Again: adjutant capabilities install gguf:tiny, then look.';
    expect(wrapProse(text, 40)).to.equal([
      'One of 2 files is damaged: it has',
      'another checksum. Again:',
      'adjutant capabilities install gguf:tiny,',
      'then look.',
    ]);
  });

  it('leaves a line whole that is there for its command', () => {
    const line = 'Do: adjutant models create qwen --provider ollama --model-id qwen3';
    expect(wrapProse(line, 30)).to.equal([line]);
  });
});
