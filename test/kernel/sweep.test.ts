import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sweeper } from '../../src/kernel/sweep.js';

export const lab = Lab.script();
const { describe, it } = lab;

const VALUE = 'ghp_a/b+c "d"\n0123456789';

describe('sweeper', () => {
  const sweep = sweeper([VALUE]);

  for (const [how, written] of [
    ['as it is', VALUE],
    ['in JSON', JSON.stringify({ a: VALUE })],
    ['in an address', `?k=${encodeURIComponent(VALUE)}`],
    ['in a form', new URLSearchParams({ k: VALUE }).toString()],
    ['in hex', Buffer.from(VALUE).toString('hex')],
    ['in capital hex', Buffer.from(VALUE).toString('hex').toUpperCase()],
    ['in base64', Buffer.from(VALUE).toString('base64')],
    ...['', 'a', 'ab', 'abc', 'user:'].flatMap((before) =>
      (['base64', 'base64url'] as const).map(
        (form) =>
          [
            `in ${form} behind "${before}"`,
            Buffer.from(`${before}${VALUE}, and more`).toString(form),
          ] as const,
      ),
    ),
  ] as const) {
    it(`sweeps a value ${how}`, () => {
      const swept = sweep(`before ${written} after`);
      expect(swept).to.contain('[secret]');
      expect(swept).to.startWith('before ');
      expect(swept).to.endWith(' after');
      expect(swept.replace(/[^\w]/g, '').length).to.be.below(40);
    });
  }

  it('leaves alone what is none of it', () => {
    const text = 'A text with 0123 and ghp_ in it, and Z2hwX2E in base64';
    expect(sweep(text)).to.equal(text);
    expect(sweeper(['ab'])('a 6162 YWI= x')).to.equal('a 6162 [secret] x');
  });
});
