import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { redactedStream, redactor } from '../../src/kernel/redact.js';
import { letters, spelled } from './escaper.js';

export const lab = Lab.script();
const { describe, it } = lab;

const KEY = 'q+r/Stu0vWx1yZa2bC+3dE/4fG==';
const TRIES = 400;

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
