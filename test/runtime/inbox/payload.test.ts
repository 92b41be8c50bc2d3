import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { isPayload } from '../../../src/runtime/inbox/payload.js';

export const lab = Lab.script();
const { describe, it } = lab;

const nested = (depth: number, open = '[', close = ']'): string =>
  `${open.repeat(depth)}${close.repeat(depth)}`;

describe('isPayload', () => {
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
    const since = performance.now();
    expect(isPayload(nested(2_000_000))).to.be.false();
    expect(isPayload('{"a":'.repeat(800_000))).to.be.false();
    expect(isPayload(`"${'\\'.repeat(4_000_000)}`)).to.be.false();
    expect(performance.now() - since).to.be.below(1000);
  });

  it('refuses prototype keys, and only those', () => {
    expect(isPayload('{"a":{"__proto__":1}}')).to.be.false();
    expect(isPayload('{"\\u005f_proto__":1}')).to.be.false();
    expect(isPayload('{"a":"__proto__"}')).to.be.true();
  });
});
