import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { escapeMarkdown } from '../../src/hooks/markdown.js';
import { markdownParser } from '../../src/providers/chat/markdown/parse.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The text that a reader of CommonMark sees, and the kinds of blocks that it makes of it. */
const read = (markdown: string): { text: string; blocks: string[] } => {
  const tokens = markdownParser().parse(markdown, {});
  const inline = tokens.flatMap(({ children }) => children ?? []);
  return {
    text: inline.map(({ type, content }) => (/break$/.test(type) ? '\n' : content)).join(''),
    blocks: [...new Set(tokens.map(({ type }) => type))],
  };
};
const PLAIN = ['paragraph_open', 'inline', 'paragraph_close'];

describe('escapeMarkdown', () => {
  it('leaves nothing of a text to Markdown', () => {
    const texts = [
      'Fix __init__ and 2*3*4',
      '# Approved by your admin',
      '- [x] done',
      '+ one',
      '1. one',
      '12) one',
      '> quoted',
      '`code` and ```',
      '[a link](https://evil.example)',
      '![a picture](https://evil.example/a.png)',
      '<b>bold</b> &amp; <https://evil.example>',
      '~~gone~~ a|b',
      '---',
      'a\\*b',
      'C:\\new_folder\\_x_',
      'title\n===',
      'a\n# b\n- c',
    ];
    for (const text of texts) {
      expect([text, read(escapeMarkdown(text))]).to.equal([text, { text, blocks: PLAIN }]);
    }
  });

  it('makes no code of what is indented', () => {
    expect(read(escapeMarkdown('    rm -rf')).blocks).to.equal(PLAIN);
    expect(read(escapeMarkdown('\trm -rf')).blocks).to.equal(PLAIN);
  });

  it('keeps addresses, and text that means nothing', () => {
    for (const text of ['see https://example.org/a_b_c?x=1&y=2 (2.0)', 'Got 1, and é.', '']) {
      expect(escapeMarkdown(text)).to.equal(text);
    }
  });
});
