import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { isFormSigned } from './vectors.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a preset', () => {
  it('reads a form in a time that grows with its length, and no form of too many fields', () => {
    const values = Array.from({ length: 1000 }, (_, at) => String(at).padStart(4, '0'));
    const form = values.map((each) => `a=${each}`).join('&');
    const signed = values.map((each) => `a${each}`).join('');
    expect(isFormSigned(form, signed)).to.be.true();
    expect(isFormSigned(`${form}&a=0000`, signed)).to.be.false();
    const since = performance.now();
    expect(isFormSigned('a&'.repeat(60_000), 'a')).to.be.false();
    expect(
      isFormSigned(Array.from({ length: 15_000 }, (_, at) => `a=${at}`).join('&'), ''),
    ).to.be.false();
    expect(performance.now() - since).to.be.below(500);
  });
});
