import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { discord } from '../../../../src/providers/chat/discord.js';
import { messageLines } from '../../../../src/providers/chat/markdown/message.js';
import { mattermost } from '../../../../src/providers/chat/mattermost.js';
import { telegram } from '../../../../src/providers/chat/telegram.js';
import { whatsapp } from '../../../../src/providers/chat/whatsapp.js';
import { PLATFORMS } from './platforms.js';

export const lab = Lab.script();
const { describe, it } = lab;

const PIECES = [
  ...[
    '```\n',
    '\n```',
    '\n````sh\n',
    '`',
    '``',
    '*',
    '**',
    '_',
    '~~',
    '&<>',
    '🦊',
    'word',
    ' ',
    '\n',
    '\n\n',
  ],
  ...[
    '@all ',
    '<!channel>',
    '/go ',
    '- ',
    '1. ',
    '\n- [ ] ',
    '\n> ',
    '\n# ',
    '[a](',
    ')',
    '![',
    ']',
    '\\',
  ],
  ...[
    'https://a.example/_b?*c*=@d ',
    'www.a.example',
    '| a | b |\n|---|---|\n',
    '|',
    '<b>',
    '&amp;',
    '漢字',
  ],
];
/** The same each time: what fails can be looked at. */
const textOf = (seed: number, length: number): string => {
  let [state, text] = [seed, ''];
  while (text.length < length) {
    state = (state * 1103515245 + 12345) % 2147483648;
    text += PIECES[Math.floor((state / 2147483648) * PIECES.length)] ?? '';
  }
  return text;
};

/** Links into Telegram that no parser of Markdown sees as addresses. */
const APP_LINKS = [
  'tg\\://resolve?domain=evilbot&start=x',
  'tg&#58;//resolve?domain=evilbot',
  't**g://resolve?domain=evilbot**',
  'xtg://resolve?domain=evilbot',
  'x_TON://transfer/a and xtonsite\\://b.ton',
  '@atg://resolve?domain=evilbot and /atg\\://resolve',
  't\u202ag://resolve?domain=evilbot and tg\u030a://resolve',
  'https://good.example/«tg://resolve?domain=evilbot',
  '[x](https://intranet/tg://resolve?domain=evilbot)',
];

describe('what an adversary writes', () => {
  for (const [platform, faultOf] of PLATFORMS) {
    it(`is taken by ${platform.kind}, whatever it is, and loses no word`, () => {
      for (let seed = 1; seed <= 12; seed++) {
        const text = textOf(seed, seed % 3 ? 3_000 : 30_000);
        const message = {
          title: seed % 2 ? 'A *title* `of` ours' : null,
          text,
          isMarkdown: seed % 4 > 0,
        };
        const parts = platform.render(message);
        expect([seed, parts.map(faultOf).filter((fault) => fault !== null)]).to.equal([seed, []]);
        const shown = JSON.stringify(parts.map(({ blocks, ...part }) => part));
        expect(shown).to.not.match(/\\ud[89ab]/);
        const said = JSON.stringify(messageLines(message));
        for (const word of [/🦊/g, /漢字/g]) {
          expect([seed, shown.match(word)?.length]).to.equal([seed, said.match(word)?.length]);
        }
      }
    });
  }

  it('puts no unseen sign into an address', () => {
    for (const address of [
      'https://a.example/_b?*c*=~d',
      'https://a.example/a_b_c',
      'http://a.example:8443/_x',
    ]) {
      for (const text of [
        address,
        `*${address} x*`,
        `(${address})`,
        `[x](${address})`,
        `1. ${address}`,
      ]) {
        for (const [platform] of PLATFORMS) {
          const shown = JSON.stringify(platform.render({ title: null, text, isMarkdown: true }));
          const found = shown.match(/https?:\/\/[^\s")>]*/g) ?? [];
          expect([text, found.length > 0]).to.equal([text, true]);
          const links = found.filter((each) => !each.startsWith('http://adaptivecards.io'));
          expect(links.filter((each) => /[\p{Cf}\\]/u.test(each))).to.equal([]);
        }
      }
    }
  });

  it('turns no direction, and hides no part of an address', () => {
    const text = '\u202ehttps://a.example/\u202egnp [x](https://a.example/\u200bb%20c "t")';
    const [part] = whatsapp.render({ title: '\u202eT', text, isMarkdown: true });
    expect(JSON.parse(JSON.stringify(part)).text.body).to.equal(
      '*T*\n\nhttps://a.example/gnp x (https://a.example/%E2%80%8Bb%20c)',
    );
  });

  it('mentions nobody on Mattermost, in words or in an address', () => {
    const text =
      '@all @here,@channel (@ada) ~town _@all_ **@all** https://a.example/@all [@all](https://a.example)';
    const [part] = mattermost.render({ title: '@all', text, isMarkdown: true });
    expect(String(part?.message)).to.not.match(/@\w|~\w/);
  });

  it('shows no other character on Mattermost than it says', () => {
    const text =
      'a &#64;all &lt;b&gt; &copy; R&D; https://a.example/?b&lt;=1 https://a.example/?b&c=1';
    const [part] = mattermost.render({ title: '&#64;all', text, isMarkdown: false });
    expect(part?.message).to.equal(
      '**&amp;#64;all**\n\na &amp;#64;all &amp;lt;b&amp;gt; &amp;copy; R&amp;D; ' +
        '`https://a.example/?b&lt;=1` <https://a.example/?b&c=1>',
    );
  });

  it('shows every character of a question, in addresses too', () => {
    const question = { approvalId: 'approval_x', digest: 'ab'.repeat(32) };
    const address = `https://ok.example/${'a'.repeat(2_000)}?leak=SECRET`;
    for (const [platform] of PLATFORMS) {
      const shownOf = (text: string) =>
        JSON.stringify(platform.render({ title: null, text, question }));
      expect([platform.kind, shownOf(`Url: ${address}`).includes('leak=SECRET')]).to.equal([
        platform.kind,
        true,
      ]);
      expect(shownOf('Body: https://ok.example/#^x')).to.include('/#^x');
    }
  });

  it('makes nothing on Telegram that a reader could tap', () => {
    const filler = 'a'.repeat(4_095);
    for (const [text, isMarkdown] of [
      ['/sto**p** all', true],
      ['@al*l* and **@**all', true],
      ['a **/**stop/', true],
      [`${filler}/stop`, false],
      [`${filler}@all`, false],
      [`${filler.slice(6)}./${'b'.repeat(100)}`, false],
      ['tg://resolve?domain=a and tonsite://b', false],
      ...APP_LINKS.flatMap((link) => [[link, true] as const, [link, false] as const]),
    ] as const) {
      for (const part of telegram.render({ title: null, text, isMarkdown })) {
        const { text: said, entities } = JSON.parse(JSON.stringify(part));
        const isCode = new Set<number>();
        for (const { type, offset, length } of entities ?? []) {
          for (let at = offset; type === 'code' && at < offset + length; at++) isCode.add(at);
        }
        // The words that Telegram would find (its documentation of MessageEntity, and TDLib).
        const taps =
          /(?<![\w])@\w{2,}|(?<![\w/<>])\/\w{1,64}(?:@\w+)?(?![\w/<>])|(?:tg|ton|tonsite):\/\/\S+/gi;
        expect(said).to.not.match(/[\u2028-\u202e]|\u030a|\u0333|\u033f/);
        for (const { 0: found, index } of said.matchAll(taps)) {
          const covered = [...found].filter((_, at) => isCode.has(index + at)).length;
          expect([text.slice(-20), found, covered]).to.equal([
            text.slice(-20),
            found,
            found.length,
          ]);
        }
      }
    }
  });

  it('mentions nobody on Discord, in words or in an address', () => {
    const text = '@everyone @here <@53908232506183680> <@&1> <#1> **@everyone**';
    const [part] = discord.render({ title: '@everyone', text, isMarkdown: true });
    expect(String(part?.content)).to.not.match(/@\w|(?<!\\)<[@#]/);
    expect(part?.allowed_mentions).to.equal({ parse: [] });
  });

  it('ends no code on Discord or Mattermost, and so hides no link behind words', () => {
    const link = '[https://good.example](https://evil.example)';
    for (const length of [1, 2, 3, 4, 5, 10, 11]) {
      for (const inner of ['`', '``', '```', '````', '`'.repeat(9), '`'.repeat(12)]) {
        if (inner.length === length) continue;
        const fence = '`'.repeat(length);
        const text = `a ${fence} x${inner}${link}y ${fence} b`;
        const [{ content } = {}] = discord.render({ title: null, text, isMarkdown: true });
        const [{ message } = {}] = mattermost.render({ title: null, text, isMarkdown: true });
        for (const said of [content, message]) {
          // Code as Discord reads it: blocks anywhere in a line, then spans.
          const rest = String(said).replace(/\\.|```[\s\S]*?```|(`+)([\s\S]*?[^`])\1(?!`)/g, '');
          expect(rest).to.not.include('](');
          expect(String(said).replace(/\\`/g, '')).to.not.include('```');
        }
      }
    }
  });

  it('is read to a megabyte', () => {
    for (const text of [
      '**a** [b](https://c.d) `e`\n\n'.repeat(37_000),
      'x'.repeat(1e6),
      '```\nx\n```\n'.repeat(100_000),
    ]) {
      for (const [platform, faultOf] of PLATFORMS.slice(1, 3)) {
        const parts = platform.render({ title: null, text, isMarkdown: true });
        expect([platform.kind, parts.some((part) => faultOf(part) !== null)]).to.equal([
          platform.kind,
          false,
        ]);
      }
    }
  });
});
