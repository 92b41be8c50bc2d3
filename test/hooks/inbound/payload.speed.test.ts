import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { parsePayload } from '../../../src/hooks/inbound/payload.js';

export const lab = Lab.script();
const { describe, it } = lab;

const isPayload = (text: string): boolean => parsePayload(text) !== null;
const nested = (depth: number, open = '[', close = ']'): string =>
  `${open.repeat(depth)}${close.repeat(depth)}`;

describe('parsePayload', () => {
  it('never goes deep itself', () => {
    const since = performance.now();
    expect(isPayload(nested(2_000_000))).to.be.false();
    expect(isPayload('{"a":'.repeat(800_000))).to.be.false();
    expect(isPayload(`"${'\\'.repeat(4_000_000)}`)).to.be.false();
    expect(performance.now() - since).to.be.below(1000);
  });
});
