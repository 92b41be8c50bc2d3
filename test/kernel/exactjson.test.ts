import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  compareNumbers,
  hasInexactNumber,
  isExactNumber,
  isRounded,
  parseExact,
  roundedIn,
  stringifyExact,
  withoutExactNumbers,
} from '../../src/kernel/exactjson.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('hasInexactNumber', () => {
  it('finds each number that would be written otherwise', () => {
    const inexact = [
      ...['9007199254740993', '12345678901234567890', '-9007199254740993', '1.10', '1.0', '-0'],
      ...[
        '1E3',
        '1e3',
        '1e400',
        '0.1000000000000000055511151231257827',
        '0.0000001',
        '1e21',
        '0.0',
      ],
    ];
    for (const digits of inexact) {
      for (const text of [`{"n":${digits}}`, `[0, ${digits} ]`, digits]) {
        expect([text, hasInexactNumber(text)]).to.equal([text, true]);
      }
    }
  });

  it('passes over numbers that are written as they came, and over texts', () => {
    const exact = ['0', '1', '-1', '1.1', '0.5', '123456789012345', '9007199254740992', '1e-7'];
    for (const text of exact) expect([text, hasInexactNumber(text)]).to.equal([text, false]);
    for (const text of ['"1.10"', '{"1.10":"9007199254740993"}', '["\\"",1]', '[true,null]', '']) {
      expect([text, hasInexactNumber(text)]).to.equal([text, false]);
    }
    expect(hasInexactNumber('["\\\\",1.0]')).to.be.true();
  });
});

describe('parseExact and stringifyExact', () => {
  it('give back each number as it came', () => {
    const text =
      '{"id":9007199254740993,"p":1.10,"l":[1.0,-0,1E3,{"m":12345678901234567890}],"t":"1.10"}';
    expect(stringifyExact(parseExact(text))).to.equal(text);
    expect(JSON.stringify(parseExact(text))).to.equal(text);
    expect(stringifyExact(parseExact('{"a":1,"b":[true,null,"x"]}'))).to.equal(
      '{"a":1,"b":[true,null,"x"]}',
    );
    expect(stringifyExact(parseExact('{"a":[1.0]}'), 2)).to.equal('{\n  "a": [\n    1.0\n  ]\n}');
    expect(stringifyExact(undefined)).to.be.undefined();
  });

  it('take no object of a sender for a number', () => {
    const text = '{"a":{"value":"1.10","isLosslessNumber":true},"n":1.10}';
    expect(stringifyExact(parseExact(text))).to.equal(text);
    expect(isExactNumber(JSON.parse('{"value":"1.10","isLosslessNumber":true}'))).to.be.false();
  });

  it('read what JSON.parse reads, and refuse what it refuses', () => {
    const dense = '{"a":1.0,"a":2.0}';
    expect(stringifyExact(parseExact(dense))).to.equal('{"a":2.0}');
    for (const text of ['01.0', '1.', '.5', '+1.0', '[1.0,]', '{"a":1.0', '1.0 2', 'NaN']) {
      expect(() => parseExact(text), text).to.throw(SyntaxError);
    }
  });
});

describe('numbers by their value', () => {
  it('are compared, however they are written', () => {
    const of = (digits: string) => {
      const value = parseExact(digits);
      return typeof value === 'number' || isExactNumber(value) ? value : Number.NaN;
    };
    const cases: [string, string, number][] = [
      ['9007199254740993', '9007199254740992', 1],
      ['1.0', '1', 0],
      ['1.10', '1.1', 0],
      ['-0', '0', 0],
      ['1E3', '1000', 0],
      ['-9007199254740993', '1', -1],
      ['1e400', '1', 1],
    ];
    for (const [a, b, sign] of cases) {
      expect([a, b, Math.sign(compareNumbers(of(a), of(b)))]).to.equal([a, b, sign]);
    }
  });

  it('are rounded if no double has their value', () => {
    for (const digits of [
      '9007199254740993',
      '1e400',
      '9007199254740993.0',
      '-12345678901234567891',
    ])
      expect([digits, isRounded(digits)]).to.equal([digits, true]);
    for (const digits of [
      '1.10',
      '1.0',
      '0.1000000000000000055511151231257827',
      '1E3',
      'x',
      '1e22',
    ])
      expect([digits, isRounded(digits)]).to.equal([digits, false]);
    const value = parseExact('{"a":[1.10,{"b":9007199254740993}]}');
    expect(roundedIn(value)).to.equal({ path: 'a.1.b', digits: '9007199254740993' });
    expect(roundedIn(parseExact('{"a":[1.10]}'))).to.be.null();
    expect(withoutExactNumbers(value)).to.equal({ a: [1.1, { b: '9007199254740993' }] });
  });
});
