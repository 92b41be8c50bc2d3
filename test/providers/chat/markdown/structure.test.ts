import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Platform } from '../../../../src/providers/chat/platform.js';
import { slack } from '../../../../src/providers/chat/slack.js';
import { teams } from '../../../../src/providers/chat/teams.js';
import { telegram } from '../../../../src/providers/chat/telegram.js';
import { linesOf } from '../../../harness/teams.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** What the platform gets of a text, as JSON has it. */
const got = (platform: Platform, text: string, title: string | null = null) =>
  JSON.parse(JSON.stringify(platform.render({ title, text, isMarkdown: true })[0] ?? {}));

const NESTED = '1. a\n2. **b**\n   - [x] c\n\n> q `d`\n\n```js\nx < 1\n```';

describe('Slack', () => {
  const text = (said: string, style?: object) => ({
    type: 'text',
    text: said,
    ...(style && { style }),
  });
  const section = (...elements: object[]) => ({ type: 'rich_text_section', elements });
  const elementsOf = (said: string, title: string | null = null) =>
    got(slack, said, title).blocks[0].elements;

  it('gets its own lists, quotes and code', () => {
    expect(elementsOf(NESTED, 'T')).to.equal([
      section(text('T', { bold: true })),
      {
        ...{ type: 'rich_text_list', style: 'ordered', indent: 0 },
        elements: [section(text('a')), section(text('b', { bold: true }))],
      },
      { type: 'rich_text_list', style: 'bullet', indent: 1, elements: [section(text('☑ c'))] },
      { type: 'rich_text_quote', elements: [text('q '), text('d', { code: true })] },
      { type: 'rich_text_preformatted', elements: [text('x < 1')] },
    ]);
  });

  it('continues a list behind an inner one, at its number', () => {
    const lists = elementsOf('4. a\n   - b\n5. c');
    expect(
      lists.map(({ style, indent, offset }: Record<string, unknown>) => [style, indent, offset]),
    ).to.equal([
      ['ordered', 0, 3],
      ['bullet', 1, undefined],
      ['ordered', 0, 4],
    ]);
  });

  it('gets a link as one that shows its address', () => {
    const [{ elements }] = elementsOf('**see [the bank](https://evil.example)**');
    const bold = { style: { bold: true } };
    expect(elements).to.equal([
      { type: 'text', text: 'see the bank (', ...bold },
      { type: 'link', url: 'https://evil.example', text: 'https://evil.example', ...bold },
      { type: 'text', text: ')', ...bold },
    ]);
  });

  it('gets plain lines without a block', () => {
    expect(got(slack, 'a\nb').blocks).to.be.undefined();
  });
});

describe('Telegram', () => {
  const entitiesOf = (said: string, title: string | null = null) => {
    const { text, entities = [] } = got(telegram, said, title);
    const shown = entities.map(({ type, offset, length, ...more }: Record<string, number>) => {
      const of = text.slice(offset, Number(offset) + Number(length));
      return [type, of, ...Object.values(more)];
    });
    return [text, shown];
  };

  it('gets styles by their places, lists as text, and the language of code', () => {
    expect(entitiesOf(NESTED, '🦊')).to.equal([
      '🦊\n1. a\n2. b\n  ☑ c\n\nq d\n\nx < 1',
      [
        ['bold', '🦊'],
        ['bold', 'b'],
        ['blockquote', 'q d'],
        ['code', 'd'],
        ['pre', 'x < 1', 'js'],
      ],
    ]);
  });

  it('gets a link as its words with the address, and no entity that could hide one', () => {
    expect(entitiesOf('[bank](https://evil.example) [me](tg://user?id=1)')).to.equal([
      'bank (https://evil.example) me (tg://user?id=1)',
      [['code', 'tg://user?id=1)']],
    ]);
  });

  it('gets names and commands as code, where it finds neither', () => {
    expect(
      entitiesOf('@ada /approve /a@bot and/or /etc/passwd ada@x.example https://x.example/@ada'),
    ).to.equal([
      '@ada /approve /a@bot and/or /etc/passwd ada@x.example https://x.example/@ada',
      [
        ['code', '@ada'],
        ['code', '/approve'],
        ['code', '/a@bot'],
        ['code', '/etc/passwd'],
      ],
    ]);
  });

  it('gets as many messages as its limit of entities asks for', () => {
    const parts = telegram.render({
      title: null,
      text: '**a** _b_ '.repeat(200),
      isMarkdown: true,
    });
    const counts = parts.map(({ entities }) => Object(entities).length);
    expect(Math.max(...counts)).to.be.below(101);
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(400);
  });
});

describe('Teams', () => {
  it('gets runs with their styles, and an address that opens itself', () => {
    const card = got(
      teams,
      '# A\n**b** _c_ ~~d~~ `e`\n\n[x](https://x.example)\n\n- f\n  - g\n\n```\n  h  i\n```',
    );
    expect(linesOf(card)).to.equal([
      ...['A', 'b c d e', ' ', 'x (https://x.example)', ' '],
      ...['• f', '\u00a0 ◦ g', ' ', '\u00a0 h\u00a0 i'],
    ]);
    const inlines = card.attachments[0].content.body.flatMap(
      (block: { inlines: object[] }) => block.inlines,
    );
    const styled = inlines.filter((run: object) => Object.keys(run).length > 2);
    expect(styled.map(({ type, ...run }: { type: string }) => run)).to.equal([
      { text: 'A', weight: 'Bolder', size: 'Medium' },
      { text: 'b', weight: 'Bolder' },
      { text: 'c', italic: true },
      { text: 'd', strikethrough: true },
      { text: 'e', fontType: 'Monospace' },
      {
        ...{ text: 'https://x.example', color: 'Accent' },
        selectAction: { type: 'Action.OpenUrl', url: 'https://x.example' },
      },
      { text: '\u00a0 h\u00a0 i', fontType: 'Monospace' },
    ]);
  });
});
