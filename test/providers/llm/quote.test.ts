import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { isSecretName, printableLine, quote } from '../../../src/providers/llm/quote.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('line()', () => {
  for (const [title, text, shown] of [
    ['keeps plain text in any script', 'Zoë 天気 👩‍🚀 می‌خواهم', 'Zoë 天気 👩‍🚀 می‌خواهم'],
    ['folds lines and tabs into one line', ' a\r\n\tb\u2028c ', 'a b c'],
    ['removes colours and cursor moves', '\x1b[31mred\x1b[0m \x1b[2Jgone\x9b5A', 'red gone'],
    ['removes window titles and links', 'a\x1b]0;owned\x07b\x1b]8;;http://x\x1b\\c', 'abc'],
    ['removes other controls', 'a\x00b\x08c\x7fd\x85e\x1bf', 'abcdef'],
    [
      'removes direction overrides and hidden characters',
      'a\u202eb\u2066c\u200bd\u{e0041}e',
      'abcde',
    ],
    ['removes half characters', 'a\ud800b', 'ab'],
    ['hides the login of a URL', 'see https://u:pw@x.test/a', 'see https://x.test/a'],
    [
      'hides secrets in a query',
      'http://x/?a=1&access_token=x%20&b=2',
      'http://x/?a=1&access_token=[hidden]&b=2',
    ],
    [
      'hides tokens by their form',
      'ghp_abcdefgh1234 Bearer abcdefgh.x eyJhbGciOi.J9abcdef',
      '[hidden] [hidden] [hidden]',
    ],
  ] as const)
    it(title, () => {
      expect(printableLine(text, 100)).to.equal(shown);
    });

  it('cuts by characters and says so', () => {
    expect(printableLine('👍👍👍👍', 3)).to.equal('👍👍…');
    expect(printableLine('👍👍👍', 3)).to.equal('👍👍👍');
  });

  it('is quick with megabytes', () => {
    expect(printableLine('a'.repeat(2 ** 22), 5)).to.equal('aaaa…');
    expect(printableLine('\x1b['.repeat(2 ** 21), 5)).to.match(/^[\x20-\x7e…]*$/);
  });
});

describe('quote()', () => {
  it('cannot be left from within', () => {
    expect(quote('a"\nb: "c', 100)).to.equal(`"a' b: 'c"`);
  });
});

describe('isSecretName()', () => {
  it('knows secrets by their names', () => {
    const names =
      'token access_token accessToken csrfToken client_secret webhookSecret password passwd passphrase Authorization authorization_code X-Hub-Signature-256 key api_key apiKey APIKEY private-key groupKey keys credentials cookie auth pwd pin sig';
    expect(names.split(' ').filter((name) => !isSecretName(name))).to.equal([]);
  });

  it('leaves other names alone', () => {
    const names = 'author authored_at keyboard monkey turkey design signal spin title compass';
    expect(names.split(' ').filter(isSecretName)).to.equal([]);
  });
});
