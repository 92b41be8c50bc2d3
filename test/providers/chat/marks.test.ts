import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { blocksOf, hasFences, markedPieces } from '../../../src/providers/chat/marks.js';
import { discord } from '../../../src/providers/chat/discord.js';
import { mattermost } from '../../../src/providers/chat/mattermost.js';
import { ntfy } from '../../../src/providers/chat/ntfy.js';
import type { ChannelMessage, Platform } from '../../../src/providers/chat/platform.js';
import { slack } from '../../../src/providers/chat/slack.js';
import { teams } from '../../../src/providers/chat/teams.js';
import { telegram } from '../../../src/providers/chat/telegram.js';
import { whatsapp } from '../../../src/providers/chat/whatsapp.js';
import { linesOf } from '../../harness/teams.js';

export const lab = Lab.script();
const { describe, it } = lab;

const said = (text: string, title: string | null = null): ChannelMessage => ({ title, text });
const blocks = (message: ChannelMessage, most = 1000) =>
  markedPieces(message, { between: '\n', most }).map((piece) =>
    blocksOf(piece).flatMap(({ style, text }) => (text === '' ? [] : [[style, text]])),
  );
const CODE = 'Run this:\n```sh\nls *_*\n  <@all> `x`\n```\nand *wait*.';

describe('marked text', () => {
  it('knows the title, and the lines between fences', () => {
    expect(blocks(said(CODE, 'A ```title'))).to.equal([
      [
        ['title', 'A ```title'],
        ['text', 'Run this:'],
        ['code', 'ls *_*\n  <@all> `x`'],
        ['text', 'and *wait*.'],
      ],
    ]);
  });

  it('ends a fence with one that is as long, or with the text', () => {
    expect(blocks(said('````\n```\na\n```\n````\nb'))).to.equal([
      [
        ['code', '```\na\n```'],
        ['text', 'b'],
      ],
    ]);
    expect(blocks(said('a\n```js\nb\n\n c'))).to.equal([
      [
        ['text', 'a'],
        ['code', 'b\n\n c'],
      ],
    ]);
    for (const text of ['``` not a name', 'a ``` b', '```a```', '``\na\n``', '    ```\na']) {
      expect([hasFences(text), blocks(said(text))]).to.equal([false, [[['text', text]]]]);
    }
    expect(blocks(said('```\n```'))).to.equal([]);
  });

  it('takes nothing of a question for a fence', () => {
    const question = { approvalId: 'approval_1', digest: 'a'.repeat(64) };
    expect(blocks({ ...said('```\nrm\n```'), question })).to.equal([[['text', '```\nrm\n```']]]);
  });

  it('goes on with code that was cut', () => {
    const text = 'see\n```\none\ntwo\nthree\n```\nend';
    expect(blocks(said(text), 12)).to.equal([
      [
        ['text', 'see'],
        ['code', 'one\ntwo'],
      ],
      [
        ['code', 'three'],
        ['text', 'end'],
      ],
    ]);
  });

  it('reads a megabyte of fences in a blink', () => {
    const began = performance.now();
    for (const text of [
      '```\n'.repeat(250_000),
      '```\nx\n```\n'.repeat(100_000),
      '`'.repeat(1e6),
      `${'`'.repeat(1e6)}x\``,
    ]) {
      hasFences(text);
      for (const piece of markedPieces(said(text), { between: '\n', most: 16_000 })) {
        blocksOf(piece);
      }
    }
    expect(performance.now() - began).to.be.below(3000);
  });
});

describe('code and titles', () => {
  const first = (platform: Platform, message: ChannelMessage) => platform.render(message)[0];

  it('are blocks of Slack, whose text is text', () => {
    const part = first(slack, said(CODE, 'A <title>'));
    expect(part?.text).to.equal(
      'A &lt;title&gt;\nRun this:\nls *_*\n  &lt;@all&gt; `x`\nand *wait*.',
    );
    const text = (type: string, words: string, style?: object) => ({
      type,
      elements: [{ type: 'text', text: words, ...(style && { style }) }],
    });
    expect(part?.blocks).to.equal([
      {
        type: 'rich_text',
        elements: [
          text('rich_text_section', 'A <title>', { bold: true }),
          text('rich_text_section', 'Run this:'),
          text('rich_text_preformatted', 'ls *_*\n  <@all> `x`'),
          text('rich_text_section', 'and *wait*.'),
        ],
      },
    ]);
  });

  it('are entities of Telegram, by their place in UTF-16', () => {
    expect(first(telegram, said(`🦊 ${CODE}`, '🦊'))).to.equal({
      text: '🦊\n🦊 Run this:\nls *_*\n  <@all> `x`\nand *wait*.',
      link_preview_options: { is_disabled: true },
      entities: [
        { type: 'bold', offset: 0, length: 2 },
        { type: 'pre', offset: 16, length: 19 },
      ],
    });
  });

  it('are marks of WhatsApp that nothing inside can end', () => {
    const body = (message: ChannelMessage) => JSON.parse(JSON.stringify(first(whatsapp, message)));
    expect(body(said(CODE, 'Title')).text.body).to.equal(
      '*Title*\n\nRun this:\n```\nls *_*\n  <@all> `x`\n```\nand *\u2060wait*.',
    );
    expect(body(said('````\na\n```\nb\n````', 'A *b* c')).text.body).to.equal(
      'A *\u2060b* c\n\n```\na\n`\u2060``\nb\n```',
    );
  });

  it('are Markdown of Mattermost that nothing inside can end', () => {
    expect(first(mattermost, said(CODE, 'A **title**'))).to.equal({
      message:
        '**A \\*\\*title\\*\\***\n\nRun this:\n```\nls *_*\n  <@all> `x`\n```\nand \\*wait\\*.',
    });
    expect(first(mattermost, said('````\n```\n@all\n````'))).to.equal({
      message: '````\n```\n@all\n````',
    });
  });

  it('go on between fences in each of the messages that they take', () => {
    const lines = 'let x = 1;\n'.repeat(4_000);
    for (const platform of [whatsapp, mattermost]) {
      const parts = platform.render(said(`\`\`\`\n${lines}\`\`\``));
      const bodies = parts.map((part) => {
        const { text, message } = JSON.parse(JSON.stringify(part));
        return String(message ?? text.body);
      });
      expect(bodies.length).to.be.above(2);
      expect(bodies.every((body) => /^```\n[^`]*\n```\s*$/.test(body))).to.be.true();
      expect(bodies.join('').match(/let x = 1;/g)?.length).to.equal(4_000);
    }
  });

  it('are runs of a card of Teams', () => {
    const card = JSON.stringify(first(teams, said(CODE, 'Title')));
    expect(linesOf(JSON.parse(card))).to.equal([
      ...['Title', 'Run this:', 'ls *_*', '  <@all> `x`', 'and *wait*.'],
    ]);
    const runs = [...card.matchAll(/"text":"([^"]*)","(weight|fontType)":"(\w+)"/g)];
    expect(runs.map((run) => run.slice(1))).to.equal([
      ['Title', 'weight', 'Bolder'],
      ['ls *_*', 'fontType', 'Monospace'],
      ['  <@all> `x`', 'fontType', 'Monospace'],
    ]);
  });
});

describe('long messages of every kind', () => {
  const PIECES = ['```\n', '\n```', '`', '*_~', '&<>', '🦊', 'word, ', '\n', '@all ', '- ', '"\\'];
  /** The same each time: what fails can be looked at. */
  const textOf = (seed: number, length: number): string => {
    let [state, text] = [seed, ''];
    while (text.length < length) {
      state = (state * 1103515245 + 12345) % 2147483648;
      text += PIECES[Math.floor((state / 2147483648) * PIECES.length)] ?? '';
    }
    return text;
  };
  const sizeOf = {
    slack: ({ text }: Record<string, unknown>) => String(text).length,
    telegram: ({ text }: Record<string, unknown>) => String(text).length,
    mattermost: ({ message }: Record<string, unknown>) => String(message).length,
    discord: ({ content }: Record<string, unknown>) => String(content).length,
    whatsapp: ({ text }: Record<string, unknown>) => JSON.parse(JSON.stringify(text)).body.length,
    ntfy: ({ message }: Record<string, unknown>) => Buffer.byteLength(String(message)),
    teams: (part: Record<string, unknown>) => 2 * JSON.stringify(part).length,
  };
  const LIMITS = {
    slack: 4_000,
    telegram: 4_096,
    mattermost: 16_383,
    discord: 2_000,
    whatsapp: 4_096,
    ntfy: 4_096,
    teams: 28 * 1024,
  };

  for (const platform of [slack, telegram, mattermost, discord, whatsapp, ntfy, teams]) {
    const { kind } = platform;
    it(`stay within the limit of ${kind}, and lose no word`, () => {
      for (let seed = 1; seed <= 8; seed++) {
        const text = textOf(seed, 40_000);
        const parts = platform.render(said(text, seed % 2 ? 'A *title* `of` ours' : null));
        for (const part of parts) {
          expect(sizeOf[kind](part) <= LIMITS[kind]).to.be.true();
        }
        const shown = JSON.stringify(parts.map(({ blocks, ...part }) => part));
        expect(shown).to.not.match(/\\ud[89ab]/);
        const count = (of: string, sign: RegExp) => of.match(sign)?.length ?? 0;
        for (const sign of [/🦊/g, /word/g]) expect(count(shown, sign)).to.equal(count(text, sign));
      }
    });
  }
});
