import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { parsePayload, readLargePayload, readPayload } from '../../../src/hooks/inbound/payload.js';
import { parseExact } from '../../../src/kernel/exactjson.js';

export const lab = Lab.script();
const { describe, it } = lab;

const isPayload = (text: string): boolean => 'value' in parsePayload(text);
const nested = (depth: number, open = '[', close = ']'): string =>
  `${open.repeat(depth)}${close.repeat(depth)}`;

describe('parsePayload', () => {
  it('takes objects and lists', () => {
    for (const text of ['{}', '[]', ' {"a":[1]} ', '[null]']) expect(isPayload(text)).to.be.true();
  });

  it('takes nothing else', () => {
    for (const text of ['', 'null', '1', '"a"', 'true', '{', '[1,]', "{'a':1}", 'NaN']) {
      expect(isPayload(text)).to.be.false();
    }
  });

  it('counts brackets outside of texts', () => {
    expect(isPayload(nested(64))).to.be.true();
    expect(isPayload(nested(65))).to.be.false();
    expect(isPayload(`["${nested(100)}"]`)).to.be.true();
    expect(isPayload(`["\\\\\\"${nested(100)}"]`)).to.be.true();
    expect(isPayload(`["\\\\",${nested(64)}]`)).to.be.false();
    expect(isPayload(`[${nested(63)},${nested(63)},${nested(63)}]`)).to.be.true();
  });

  it('never goes deep itself', () => {
    expect(isPayload(nested(2_000_000))).to.be.false();
    expect(isPayload('{"a":'.repeat(800_000))).to.be.false();
    expect(isPayload(`"${'\\'.repeat(4_000_000)}`)).to.be.false();
  });

  it('refuses prototype keys, and only those', () => {
    expect(isPayload('{"a":{"__proto__":1}}')).to.be.false();
    expect(isPayload('{"\\u005f_proto__":1}')).to.be.false();
    expect(isPayload('{"a":"__proto__"}')).to.be.true();
  });
});

describe('readPayload', () => {
  it('gives the text as received, and the names that may be signed', () => {
    const text = ' {"id":"evt_1", "type":"a.b" ,"n":1.0}';
    const value = parseExact(text);
    expect(readPayload(Buffer.from(text))).to.equal({ text, value, id: 'evt_1', type: 'a.b' });
    for (const odd of ['{"id":1,"type":["a"]}', '[]', '{}']) {
      const read = { text: odd, value: JSON.parse(odd), id: null, type: null };
      expect(readPayload(Buffer.from(odd))).to.equal(read);
    }
  });

  it('says why the bytes are no text', () => {
    expect(readPayload(Buffer.from([0x7b, 0xff, 0x7d]))).to.equal({
      fault: 'charset',
      message: 'The body is not valid UTF-8, and its content type declares no charset',
    });
  });

  it('gives the digest of large ones, of memory that is shared too', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(2));
    shared.set(Buffer.from('{}'));
    expect(readLargePayload({ bytes: shared, form: 'json', places: [] })).to.equal({
      ...{ text: '{}', id: null, type: null },
      digest: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    });
  });
});
