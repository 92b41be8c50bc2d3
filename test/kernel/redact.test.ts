import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { redactor } from '../../src/kernel/redact.js';

export const lab = Lab.script();
const { describe, it } = lab;

const VALUE = 'ghp_a/b+c "d"\n0123456789';

describe('redactor', () => {
  const redact = redactor([VALUE]);

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
    it(`redacts a value ${how}`, () => {
      const redacted = redact(`before ${written} after`);
      expect(redacted).to.contain('[secret]');
      expect(redacted).to.startWith('before ');
      expect(redacted).to.endWith(' after');
      expect(redacted.replace(/[^\w]/g, '').length).to.be.below(40);
    });
  }

  it('leaves alone what is none of it', () => {
    const text = 'A text with 0123 and ghp_ in it, and Z2hwX2E in base64';
    expect(redact(text)).to.equal(text);
    expect(redactor(['ab'])('a 6162 YWI= x')).to.equal('a 6162 [secret] x');
  });
});
