import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { discord } from '../../../../src/providers/chat/discord.js';
import { mattermost } from '../../../../src/providers/chat/mattermost.js';
import { ntfy } from '../../../../src/providers/chat/ntfy.js';
import type { OutboundPlatform, PlatformBody } from '../../../../src/providers/chat/platform.js';
import { slack } from '../../../../src/providers/chat/slack.js';
import { teams } from '../../../../src/providers/chat/teams.js';
import { telegram } from '../../../../src/providers/chat/telegram.js';
import { whatsapp } from '../../../../src/providers/chat/whatsapp.js';
import { discordFault } from '../../../harness/discord.js';
import { ntfyFault, TOPIC } from '../../../harness/ntfy.js';
import { slackFault } from '../../../harness/slackrules.js';
import { cardFault } from '../../../harness/teamsrules.js';
import { telegramFault } from '../../../harness/telegramrules.js';
import { whatsappFault } from '../../../harness/whatsapprules.js';

export const lab = Lab.script();
const { describe, it } = lab;

const lengthOf = (value: unknown): number => String(value).length;
const WHATSAPP_ENVELOPE = {
  messaging_product: 'whatsapp',
  recipient_type: 'individual',
  to: '15550783881',
};
/** Each platform with the fault of one part of a message, null if it has none. */
const PLATFORMS: [OutboundPlatform, (part: PlatformBody) => string | null][] = [
  [
    slack,
    (part) => (lengthOf(part.text) > 4_000 ? 'over 4,000' : slackFault({ channel: 'D1', ...part })),
  ],
  [telegram, (part) => telegramFault('sendMessage', part)],
  [mattermost, ({ message }) => (lengthOf(message) > 16_383 ? 'over 16,383' : null)],
  [whatsapp, (part) => whatsappFault({ ...WHATSAPP_ENVELOPE, ...part })?.[1] ?? null],
  [discord, (part) => discordFault(JSON.parse(JSON.stringify(part)))],
  [ntfy, (part) => ntfyFault(JSON.stringify({ topic: TOPIC, ...part }))?.[2] ?? null],
  [teams, (part) => cardFault({ ...part, recipient: 'x'.repeat(80) })],
];

/** The beginnings of what Markdown reads, to be repeated. */
const REPEATED = [
  ...[
    '*',
    '_',
    '`',
    '[',
    '>',
    '> ',
    '- ',
    '1. ',
    '@a ',
    '/a ',
    '*a* ',
    '`a``b```c ',
    '[a](',
    '![a](',
  ],
  ...[
    'http://a.b ',
    'http://',
    '|a',
    '\\',
    '&#',
    '<a@',
    '~~a~~ ',
    '\n',
    'a.',
    'a-',
    '```\n',
    '# a\n',
  ],
];

describe('what an adversary writes', () => {
  it('is read in a time that grows with its length', { timeout: 120_000 }, () => {
    const most = 20_000;
    const times = (text: string): string => text.repeat(most / text.length);
    const since = process.cpuUsage();
    for (const text of REPEATED) {
      for (const [platform] of PLATFORMS) {
        platform.render({ title: null, text: times(text), isMarkdown: true });
      }
    }
    for (const text of [
      `**a${' '.repeat(most)}b**`,
      `http://a.b/${'('.repeat(most)}`,
      Array.from({ length: 440 }, (_, depth) => `${' '.repeat(depth)}- x`).join('\n'),
      `|${'a|'.repeat(3_000)}\n|${'-|'.repeat(3_000)}\n${'|x|\n'.repeat(1_000)}`,
      `|a|b|\n|-|-|\n|${'x'.repeat(50_000)}|y|\n${'|c|d|\n'.repeat(5_000)}`,
    ]) {
      for (const [platform] of PLATFORMS) platform.render({ title: null, text, isMarkdown: true });
    }
    expect(process.cpuUsage(since).user / 1e6).to.be.below(40);
  });
});
