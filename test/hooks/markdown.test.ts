import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { escapeMarkdown } from '../../src/hooks/markdown.js';
import { renderMarkdown } from '../../src/hooks/template.js';
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

/** The code that a reader of CommonMark sees, and the text outside of it. */
const split = (markdown: string): { code: string[]; text: string } => {
  const tokens = markdownParser()
    .parse(markdown, {})
    .flatMap((token) => [token, ...(token.children ?? [])]);
  const isCode = /^(?:code_inline|code_block|fence)$/;
  return {
    code: tokens.filter(({ type }) => isCode.test(type)).map(({ content }) => content),
    text: tokens
      .filter(({ type }) => /^text/.test(type))
      .map(({ content }) => content)
      .join(''),
  };
};

describe('a value in code', () => {
  const ID = 'feature/my_branch_v2*[x]';
  const LOG = 'a_b *c* __init__ [x](y)\n\n# d\n```\n> **FAKE**\n~~~~';
  const scope = { a: ID, b: LOG, e: '', f: '`x` **FAKE** `y``', g: '``x` **FAKE** `y``', h: ' a ' };

  it('stands unchanged', () => {
    expect(renderMarkdown('A `{{a}}` *{{a}}*', scope)).to.equal(
      `A \`${ID}\` *feature/my\\_branch\\_v2\\*\\[x\\]*`,
    );
    const cases: [template: string, code: string[]][] = [
      ['```\n{{b}}\n```', [`${LOG}\n`]],
      ['~~~ts\n  {{b}}\n~~~\n', [`  ${LOG}\n`]],
      ['```\n{{b}}', [LOG]],
      ['> ```\n> {{b}} {{a}}\n> ```', [`${LOG} ${ID}\n`]],
      ['1. one\n\n   ```\n   {{b}}\n   ```\n2. two', [`${LOG}\n`]],
      ['one\n\n    {{b}}', [`${LOG}\n`]],
      ['-     {{b}}', [`${LOG}\n`]],
      ['`` ` {{a}} ``', [`\` ${ID}`]],
      ['\\``{{a}}` b', [ID]],
      ['> `a\n> {{a}}`', [`a ${ID}`]],
      ['`{{h}}` `{{e}}` `{{none}}`', [' a ', ' ', '{{none}}']],
    ];
    for (const [template, code] of cases) {
      expect([template, split(renderMarkdown(template, scope)).code]).to.equal([template, code]);
    }
  });

  it('cannot end the code', () => {
    const all = { ...scope, p: 'a|b' };
    const cases: [template: string, code: string[], text: string][] = [
      ['A `{{f}}` B', [scope.f], 'A  B'],
      ['A `{{g}}` B', [scope.g], 'A  B'],
      ['A `{{b}}` B', [LOG.replaceAll('\n', ' ')], 'A  B'],
      ['A `{{f}}` B ``{{g}}{{a}}`` C `d`', [scope.f, scope.g + ID, 'd'], 'A  B  C '],
      ['|a|b|\n|-|-|\n|`{{p}}`|c|', ['a|b'], 'abc'],
      ['```{{f}}\n{{a}}\n```\nB', [`${ID}\n`], 'B'],
    ];
    for (const [template, code, text] of cases) {
      const found = split(renderMarkdown(template, all));
      expect([template, found]).to.equal([template, { code, text }]);
    }
  });
});
