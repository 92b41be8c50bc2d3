import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { redactedStream, redactor } from '../../src/kernel/redact.js';
import { StepLimit } from '../../src/kernel/steplimit.js';
import { letters, spelled } from './escaper.js';

export const lab = Lab.script();
const { describe, it } = lab;

const KEY = 'q+r/Stu0vWx1yZa2bC+3dE/4fG==';
const KEY_BYTES = [...Buffer.from(KEY)].map((byte) => byte.toString(16).padStart(2, '0'));
const TRIES = 400;

const zeroed = (before: string, base: number, after: string): string =>
  [...KEY].map((one) => `${before}${one.charCodeAt(0).toString(base)}${after}`).join('');

const stepsOf = (text: string): number => {
  let steps = 0;
  const counting = new (class extends StepLimit {
    override spend(more: number): void {
      steps += more;
    }
  })(0);
  redactor([KEY], undefined, counting)(text);
  return steps;
};

describe('redaction of what is written otherwise', () => {
  const redact = redactor([KEY]);

  for (const [how, written] of [
    ['JSON', KEY.replaceAll('+', '\\u002B').replaceAll('=', '\\u003d')],
    ['JSON in JSON', KEY.replaceAll('+', '\\\\u002B').replaceAll('=', '\\\\u003d')],
    ['HTML', KEY.replaceAll('+', '&#43;').replaceAll('=', '&#x3D;').replaceAll('/', '&sol;')],
    ['HTML in HTML', KEY.replaceAll('=', '&amp;#61;').replaceAll('/', '&amp;sol;')],
    ['quoted-printable', KEY.replaceAll('=', '=3D')],
    ['an address', encodeURIComponent(KEY)],
    [
      'an address in an address, twice',
      encodeURIComponent(encodeURIComponent(encodeURIComponent(KEY))),
    ],
    ['JavaScript', KEY.replaceAll('+', '\\x2b').replaceAll('/', '\\u{2F}').replaceAll('=', '\\75')],
    ['a shell', KEY.replaceAll('+', '\\+').replaceAll('=', '\\=')],
    ['CSS', KEY.replaceAll('+', '\\2b ').replaceAll('/', '\\00002f')],
    ['the other alphabet', KEY.replaceAll('+', '-').replaceAll('/', '_')],
    ['no padding', KEY.replace('==', '')],
    ['half of its padding', KEY.replace('==', '=')],
    ['several at once', 'q%2Br\\/Stu0&#118;Wx1y=5Aa2bC\\u002b3dE&sol;4fG=3D%3D'],
    ['lines', `${KEY.slice(0, 10)}=\r\n${KEY.slice(10, 20)}\n  ${KEY.slice(20)}`],
    ['HTML with zeros', zeroed('&#0000000000000000', 10, ';')],
    ['HTML with zeros, in hex', zeroed('&#x0000000000000000', 16, ';')],
    ['HTML with very many zeros', zeroed(`&#${'0'.repeat(3000)}`, 10, ';')],
    ['HTML with zeros, in HTML', zeroed('&amp;#0000000000000000', 10, ';')],
    ['JavaScript with zeros', zeroed('\\u{0000000000000000', 16, '}')],
    ['a mail with blanks at the line end', `${KEY.slice(0, 10)}= \r\n${KEY.slice(10)}`],
    ['a mail with tabs at the line end', `${KEY.slice(0, 10)}=\t\n${KEY.slice(10)}`],
    ['a debugger', KEY_BYTES.join(' ')],
    ['a debugger, in capitals', KEY_BYTES.join(' ').toUpperCase()],
    ['a fingerprint', KEY_BYTES.join(':')],
    ['a fingerprint, in capitals', KEY_BYTES.join(':').toUpperCase()],
    ['a mail with many blanks', `${KEY.slice(0, 10)}=${' \t'.repeat(500)}\r\n${KEY.slice(10)}`],
  ] as const) {
    it(`finds a key as ${how} writes it`, () => {
      expect(redact(`before ${written} after`)).to.match(/^before \[secret\](=|==)? after$/);
      expect(redact(`token=${written}`)).to.match(/^token=\[secret\](=|==)?$/);
    });
  }

  it('finds any secret in any mixture of spellings, three times over', () => {
    for (let seed = 1; seed <= TRIES; seed++) {
      const secret = letters(seed, 8 + (seed % 40));
      const written = spelled(seed, secret, 1 + (seed % 3));
      expect(
        redactor([secret])(`before ${written} after`),
        `${seed}: ${secret}: ${written}`,
      ).to.equal('before [secret] after');
    }
  });

  it('finds any secret in any mixture that comes in pieces, and passes on all else', () => {
    for (let seed = 1; seed <= TRIES / 4; seed++) {
      const secret = letters(seed, 8 + (seed % 40));
      const text = `before ${spelled(seed, secret, 1 + (seed % 3))} after & before`;
      let heard = '';
      const stream = redactedStream([secret], (piece) => {
        heard += piece;
      });
      for (let at = 0; at < text.length; at += 1 + (seed % 7)) {
        stream.take(text.slice(at, at + 1 + (seed % 7)));
      }
      stream.end();
      expect(heard, `${seed}: ${secret}`).to.equal('before [secret] after & before');
    }
  });

  it('holds back zeros and blanks that an escape may follow', () => {
    const zeros = `&#${'0'.repeat(200)}`;
    for (const written of [`q${zeros}43;r/S`, `q+r/S=${' '.repeat(200)}\n`]) {
      let heard = '';
      const stream = redactedStream([KEY], (piece) => {
        heard += piece;
      });
      for (const one of `before ${written}${KEY.slice(5)} after`) stream.take(one);
      stream.end();
      expect(heard).to.equal('before [secret] after');
    }
  });

  it('reads long runs of zeros and blanks once, whatever begins before them', () => {
    const far = '0'.repeat(50_000);
    const wide = ' '.repeat(50_000);
    const before = '\\'.repeat(40) + '&amp;'.repeat(40);
    for (const text of [`${before}#${far}`, `${before}#x${far}`, `${'='.repeat(40)}${wide}`]) {
      expect(stepsOf(text)).to.be.below(20 * text.length);
    }
    for (const one of ['&#0', '&#', '= ', '&#x00000000', '\\u{0', `=${' '.repeat(100)}`]) {
      expect(stepsOf(one.repeat(20_000 / one.length)), one).to.be.below(100 * 20_000);
    }
  });

  it('leaves alone what only resembles it', () => {
    for (const text of ['a=3Db', '100% + 5 = 105 & more', 'C:\\new\\table', 'q%2Br/Stu0 and on']) {
      expect(redact(text)).to.equal(text);
    }
  });

  it('takes out a beginning at the end whose last escape is cut off', () => {
    expect(redact('all: q+r/Stu0vWx1\\u00')).to.equal('all: [secret]');
    expect(redact('all: q%2Br%2FStu0vWx1y%5')).to.equal('all: [secret]');
  });
});
