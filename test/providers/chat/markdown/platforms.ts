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

const lengthOf = (value: unknown): number => String(value).length;
const WHATSAPP_ENVELOPE = {
  messaging_product: 'whatsapp',
  recipient_type: 'individual',
  to: '15550783881',
};
/** Each platform with the fault of one part of a message, null if it has none. */
export const PLATFORMS: [OutboundPlatform, (part: PlatformBody) => string | null][] = [
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
