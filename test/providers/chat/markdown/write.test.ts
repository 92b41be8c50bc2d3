import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { splitIntoMessages } from '../../../../src/providers/chat/markdown/fit.js';
import { messageLines } from '../../../../src/providers/chat/markdown/message.js';
import { writePlain } from '../../../../src/providers/chat/markdown/plain.js';
import { discordRules } from '../../../../src/providers/chat/markdown/rules.js';
import { markdownLimits, writeMarkdown } from '../../../../src/providers/chat/markdown/write.js';
import { mattermost } from '../../../../src/providers/chat/mattermost.js';
import { whatsapp } from '../../../../src/providers/chat/whatsapp.js';

export const lab = Lab.script();
const { describe, it } = lab;

const markdown = (text: string) => ({ title: null, text, isMarkdown: true });
/** What each platform that takes one text gets of a text; '' of one that it shows nothing of. */
const shownBy = {
  mattermost: (text: string): string => String(mattermost.render(markdown(text))[0]?.message ?? ''),
  discord: (text: string): string =>
    splitIntoMessages(messageLines(markdown(text)), markdownLimits(discordRules, 2000))
      .map((lines) => writeMarkdown(lines, discordRules))
      .join(''),
  whatsapp: (text: string): string =>
    JSON.parse(JSON.stringify(whatsapp.render(markdown(text))[0]?.text ?? { body: '' })).body,
  plain: (text: string): string => writePlain(messageLines(markdown(text))),
};

/** A text, and what Mattermost, Discord (the same unless given), WhatsApp and plain text show. */
type Case = [text: string, mattermost: string, whatsapp: string, plain: string, discord?: string];

const EMPHASIS: Case[] = [
  ['**a** *b* ~~c~~ `d`', '**a** *b* ~~c~~ `d`', '*a* _b_ ~c~ `d`', 'a b c d'],
  ['__a__ _b_', '**a** *b*', '*a* _b_', 'a b'],
  ['***both***', '***both***', '*_both_*', 'both'],
  ['**a *b* c**', '**a *b* c**', '*a* *_b_* *c*', 'a b c'],
  ['snake_case_name', 'snake\\_case\\_name', 'snake_case_name', 'snake_case_name'],
  ['2*3*4', '2*3*4', '234', '234'],
  ['un**believ**able', 'un**believ**able', 'unbelievable', 'unbelievable'],
  ['*a***b**', '*a*\u200b**b**', 'ab', 'ab'],
  ['** a**', '\\*\\* a\\*\\*', '*\u2060*\u2060 a**\u2060', '** a**'],
  ['\\*a\\* 1 * 2', '\\*a\\* 1 \\* 2', '*\u2060a* 1 *\u2060 2', '*a* 1 * 2'],
  ['`` a`b ``', '`` a`b ``', 'a`b', 'a`b'],
  ['` a``b `', '`` a`\u200b`b ``', 'a``\u2060b', 'a``b'],
  ['a\nb  \nc\\\nd', 'a\nb\nc\nd', 'a\nb\nc\nd', 'a\nb\nc\nd'],
];
const BLOCKS: Case[] = [
  ['# A\ntext', '# A\ntext', '*A*\ntext', 'A\ntext'],
  ['##### A', '##### A', '*A*', 'A', '### A'],
  ['- a\n- b\n  - c', '- a\n- b\n  - c', '- a\n- b\n  ◦ c', '• a\n• b\n  ◦ c'],
  ['3. a\n3. b', '3. a\n4. b', '3. a\n4. b', '3. a\n4. b'],
  ['- [x] a\n- [ ] b', '- ☑ a\n- ☐ b', '☑ a\n☐ b', '☑ a\n☐ b'],
  ['- a\n\n  b', '- a\n\n  b', '- a\n\n  b', '• a\n\n  b'],
  ['> a\n> b\n\nc', '> a\n> b\n\nc', '> a\n> b\n\nc', '> a\n> b\n\nc'],
  ['> a\n> > b', '> a\n> > b', '> a\n> b', '> a\n> > b'],
  ['a\n\n---\n\nb', 'a\n\n———\n\nb', 'a\n\n———\n\nb', 'a\n\n———\n\nb'],
  ['```sh\nls *_*\n```', '```sh\nls *_*\n```', '```\nls *_*\n```', 'ls *_*'],
  ['    ls', '```\nls\n```', '```\nls\n```', 'ls'],
  ['````\n```\n````', '````\n```\n````', '```\n`\u2060``\n```', '```', '```\n`\u200b``\n```'],
  ['<b>a</b> &lt; &amp;', '<b\\>a</b\\> < &', '<b>a</b> < &', '<b>a</b> < &', '<b\\>a\\</b\\> < &'],
];
const LINKS: Case[] = [
  [
    '[bank](https://evil.example)',
    'bank (<https://evil.example>)',
    'bank (https://evil.example)',
    'bank (https://evil.example)',
  ],
  [
    '<https://a.example/b_c>',
    '<https://a.example/b_c>',
    'https://a.example/b_c',
    'https://a.example/b_c',
  ],
  [
    'https://a.example/_b?*c*=~d.',
    '<https://a.example/_b?*c*=~d>.',
    'https://a.example/%5Fb?%2Ac*=%7Ed.',
    'https://a.example/_b?*c*=~d.',
  ],
  ['**https://a.example**', '**<https://a.example>**', 'https://a.example', 'https://a.example'],
  [
    '![chart](https://a.example/c.png)',
    'chart (<https://a.example/c.png>)',
    'chart (https://a.example/c.png)',
    'chart (https://a.example/c.png)',
  ],
  ['[a](docs/b.md)', 'a (`docs/b.md`)', 'a (`docs/b.md`)', 'a (docs/b.md)'],
  ['[me](tg://user?id=1)', 'me (`tg://user?id=1`)', 'me (`tg://user?id=1`)', 'me (tg://user?id=1)'],
  ['[a](javascript:x)', 'a (`javascript:x`)', 'a (`javascript:x`)', 'a (javascript:x)'],
  ['<ada@a.example>', 'ada@a.example', 'ada@a.example', 'ada@a.example'],
  [
    '[x]\n\n[x]: https://a.example',
    'x (<https://a.example>)',
    'x (https://a.example)',
    'x (https://a.example)',
  ],
  [
    'see a.example:8443/_next and 1.a.example/x',
    'see a.example:8443/\\_next and 1.a.example/x',
    'see a.example:8443/%5Fnext and 1.a.example/x',
    'see a.example:8443/_next and 1.a.example/x',
  ],
];
const TABLE = '| Name | n |\n|:--|--:|\n| a 漢字 | 1 |\n| **b** | 22 |';
const TABLE_TEXT = ['Name   │  n', '───────┼───', 'a 漢字 │  1', 'b      │ 22'].join('\n');
const TABLES: Case[] = [
  [TABLE, `\`\`\`\n${TABLE_TEXT}\n\`\`\``, `\`\`\`\n${TABLE_TEXT}\n\`\`\``, TABLE_TEXT],
];

for (const [name, cases] of Object.entries({ EMPHASIS, BLOCKS, LINKS, TABLES })) {
  describe(`Markdown: ${name.toLowerCase()}`, () => {
    for (const [text, ofMattermost, ofWhatsapp, ofPlain, ofDiscord = ofMattermost] of cases) {
      it(`shows ${JSON.stringify(text)} in each platform's own way`, () => {
        const all = Object.entries(shownBy).map(([platform, shown]) => [platform, shown(text)]);
        expect(Object.fromEntries(all)).to.equal({
          mattermost: ofMattermost,
          discord: ofDiscord,
          whatsapp: ofWhatsapp,
          plain: ofPlain,
        });
      });
    }
  });
}
