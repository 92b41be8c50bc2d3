import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { parseBody } from '../../src/kernel/json.js';
import { parsedJson } from '../../src/kernel/jsonvalue.js';

export const lab = Lab.script();
const { describe, it } = lab;

const parsed = (text: string) => parseBody(Buffer.from(text));
const MANY = { fault: 'The JSON has more than 20000 values' };

describe('a JSON body', () => {
  it('holds 20,000 values with itself, and no more', () => {
    const most = Array.from({ length: 19_999 }, () => 1);
    expect(parsed(JSON.stringify(most))).to.equal({ value: most });
    expect(parsed(JSON.stringify([...most, 1]))).to.equal(MANY);
    expect(parsed(JSON.stringify([[...most]]))).to.equal(MANY);
  });

  it('may hold any number of commas in its texts, whatever is escaped in them', () => {
    for (const text of [',', '\\,', '",', '\\",', '\\\\",']) {
      const value = { text: text.repeat(30_000) };
      expect(parsed(JSON.stringify(value))).to.equal({ value });
    }
  });

  it('is refused by its depth before it is parsed', () => {
    const deep = { fault: 'The JSON is nested more than 64 levels deep' };
    expect(parsed(`${'['.repeat(64)}${']'.repeat(64)}`)).to.include('value');
    expect(parsed(`${'['.repeat(65)}${']'.repeat(65)}`)).to.equal(deep);
    // It is no JSON either, which a parser would say after a second.
    expect(parsed('['.repeat(1024 * 1024))).to.equal(deep);
  });

  it('is refused by its commas before it is parsed', () => {
    expect(parsed(`{"a":"\\\\"${',1'.repeat(20_000)}`)).to.equal(MANY);
    expect(parsed(`{"a":"\\\\"${',1'.repeat(19_999)}`)).to.equal({
      fault: 'Invalid request payload JSON format',
    });
  });
});

describe('parsedJson', () => {
  it('parses nothing that is nested over 1,000 deep', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(JSON.stringify(parsedJson(nested(1000)))).to.equal(nested(1000));
    expect(parsedJson(nested(1001))).to.be.undefined();
    expect(parsedJson('no JSON')).to.be.undefined();
  });
});
