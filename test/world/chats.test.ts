import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { discord } from '../../src/providers/chat/discord.js';
import { mattermost } from '../../src/providers/chat/mattermost.js';
import type { OutboundPlatform } from '../../src/providers/chat/platform.js';
import { slack } from '../../src/providers/chat/slack.js';
import { teams } from '../../src/providers/chat/teams.js';
import { telegram } from '../../src/providers/chat/telegram.js';
import { whatsapp } from '../../src/providers/chat/whatsapp.js';

export const lab = Lab.script();
const { describe, it } = lab;

const PLATFORMS: OutboundPlatform[] = [discord, mattermost, slack, teams, telegram, whatsapp];

/** The texts of the messages that a platform gets. */
const messagesOf = (platform: OutboundPlatform, text: string): string[] =>
  platform
    .render({ title: null, text, isMarkdown: true })
    .map(({ content, message, text: body, ...part }) => {
      const inner = typeof body === 'object' && body !== null && 'body' in body ? body.body : body;
      return JSON.stringify(content ?? message ?? inner ?? part);
    });

/** Texts without a space, as in Thai, with what must not be divided. */
const UNDIVIDED: [grapheme: string, divided: RegExp][] = [
  ['🇩🇪', /(?<!🇩)🇪|🇩(?!🇪)/u],
  ['👩\u200d👩\u200d👧', /\u200d(?!👩|👧)|(?<!👩)\u200d/u],
  ['e\u0301', /(?<!e)\u0301/],
  ['か\u3099', /(?<!か)\u3099/],
  ['นี้', /(?<!น)ี|(?<!ี)้/],
];

describe('a long message without spaces', () => {
  it('is divided between letters and emoji, on every platform', () => {
    for (const platform of PLATFORMS) {
      for (const [grapheme, divided] of UNDIVIDED) {
        for (const start of ['', 'x', 'xy', 'xyz']) {
          const messages = messagesOf(platform, start + grapheme.repeat(9000));
          expect(messages.length).to.be.above(1);
          const bad = messages.filter((message) => divided.test(message));
          expect([platform.kind, grapheme, bad.length]).to.equal([platform.kind, grapheme, 0]);
        }
      }
    }
  });

  it('is divided somewhere where one letter fills it', () => {
    for (const platform of PLATFORMS) {
      expect(messagesOf(platform, `e${'\u0301'.repeat(40_000)}`).length).to.be.above(1);
    }
  });
});

describe('a message to Mattermost', () => {
  it('shows no emoji for a place in a file, and leaves times and addresses', () => {
    const text = 'main.c:100:5 a:+1:b :my_cat: 12:30:45 aa:bb:cc http://a.example:100:x';
    expect(messagesOf(mattermost, text)[0]).to.include(
      'main.c:\u200b100:5 a:\u200b+1:b :\u200bmy\\\\_cat: 12:30:45 aa:bb:cc',
    );
  });
});

describe('a code block in a long message', () => {
  const BLOCKS = [
    `~~~js\n${'let a_b = "@everyone";\n'.repeat(900)}~~~`,
    `> ~~~js\n${'> let a_b = "```";\n'.repeat(900)}> ~~~`,
    `- item\n\n  ~~~\n${'  echo one_two\n'.repeat(1500)}  ~~~\n- next`,
  ];

  it('is opened and closed in each message that has a part of it', () => {
    for (const platform of [discord, mattermost, whatsapp]) {
      for (const block of BLOCKS) {
        const messages = messagesOf(platform, block);
        expect(messages.length).to.be.above(1);
        for (const message of messages) {
          const fences = message.match(/(?<=^"|\\n)(> )*`{3,}\w*(?=\\n|"$)/g) ?? [];
          expect([platform.kind, fences.length % 2]).to.equal([platform.kind, 0]);
          expect(fences.length).to.be.above(0);
        }
      }
    }
  });
});
