import {
  asText,
  type CallResult,
  callPlatform,
  nothingSent,
  type PlatformCallReply,
  platformRefusal,
  type RefusalIn,
  toPlatformCheck,
  toPlatformSent,
} from './call.js';
import { splitIntoMessages } from './markdown/fit.js';
import { messageLines } from './markdown/message.js';
import { mattermostRules } from './markdown/rules.js';
import { markdownLimits, writeMarkdown } from './markdown/write.js';
import { buildMattermostButtons, questionIn } from './mattermostbuttons.js';
import { COMMAND, isMattermosts, parseMattermost } from './mattermostinbound.js';
import { withLast } from './part.js';
import type { Platform, PlatformBody, PlatformReach } from './platform.js';

const MAX_MESSAGE_LENGTH = 16_383;
const LIMITS = markdownLimits(mattermostRules, MAX_MESSAGE_LENGTH);

/** Slash commands and outgoing webhooks come in; text is sent as direct messages of the bot. */
export const mattermost: Platform = {
  kind: 'mattermost',
  endpoint: 'teamchat',
  // Usual URL of a self-hosted server; there is no central service.
  baseUrl: 'http://localhost:8065',
  fields: [
    {
      name: 'botToken',
      doc: 'Integrations, Bot Accounts: the token, shown once when the bot is created',
      isSecret: true,
      requiredFor: ['send'],
    },
    {
      name: 'commandTokens',
      doc: 'Integrations: the tokens of all slash commands and outgoing webhooks, separated by spaces',
      isSecret: true,
      requiredFor: ['receive'],
    },
  ],
  setup: (receiver) => [
    'Set the base URL to the URL of your server, for example https://chat.example.org',
    'Integrations, Bot Accounts, Add: set botToken to the token shown',
    `Integrations, Slash Commands, Add: /link and /adjutant, Request Method POST, Request URL ${receiver}`,
    'Set commandTokens to the tokens of both commands, separated by a space',
    'For a channel where people write without a command: Outgoing Webhooks, Add, with the same URL. Append its token to commandTokens',
    'To store files of such a channel, add the bot to the channel',
    'Approval buttons use the same URL',
    'If the receiver is in a private network: System Console, Developer, Allow untrusted internal connections',
    'Send /link and redeem the code: adjutant channels link CODE',
  ],

  matchesHeaders: (headers) =>
    headers.authorization?.startsWith('Token ') ||
    headers['user-agent']?.startsWith('Mattermost-Bot/') ||
    false,
  verify: ({ body }, { secrets }) => isMattermosts(body, secrets),
  parse: ({ body }) => [parseMattermost(body)],
  reply: ({ kind, replyTo }, text, isOver) => {
    if (kind === 'button')
      return isOver ? buildInPlaceUpdate(text) : { ephemeral_text: plain(text) };
    return replyTo === COMMAND ? { response_type: 'ephemeral', text: plain(text) } : null;
  },

  render: (message) => {
    const { question } = message;
    const parts = splitIntoMessages(messageLines(message, true), LIMITS).map(
      (lines): PlatformBody => ({ message: writeMarkdown(lines, mattermostRules) }),
    );
    return question ? withLast(parts, { question }) : parts;
  },
  send: async (reach, to, { question, ...post }) => {
    const channel = await directChannel(reach, to);
    if (channel.verdict !== 'replied') return nothingSent(channel);
    const requested = questionIn(question);
    const props = requested && buildMattermostButtons(requested, to, reach);
    const body = { channel_id: readReplyId(channel), ...post, props: props ?? NO_PREVIEW };
    return toPlatformSent(
      await call(reach, 'posts', body),
      (posted) => readReplyId(posted) || null,
    );
  },
  files: {
    hosts: [],
    find: async (reach, { ref }) => {
      const path = `files/${encodeURIComponent(ref)}`;
      const info = await call(reach, `${path}/info`);
      if (info.verdict !== 'replied') return info;
      const url = `${reach.settings.baseUrl}/api/v4/${path}`;
      const { name, size: bytes, mime_type } = info.body;
      return {
        verdict: 'found',
        url,
        headers: bearer(reach),
        name: asText(name) || null,
        bytes,
        ...(asText(mime_type).startsWith('audio/') && { isVoice: true as const }),
      };
    },
  },
  check: async (reach) =>
    toPlatformCheck(await call(reach, 'users/me'), ({ body }) => `@${asText(body.username)}`),
};

/**
 * The server fetches no previews for a post with attachments, even an empty list (Mattermost,
 * post_metadata.go).
 */
const NO_PREVIEW = { attachments: [] };

const buildInPlaceUpdate = (text: string) => ({ update: { message: plain(text), props: {} } });

/** POST with a body, else GET. Any other status than success is a refusal. */
const call = (
  reach: PlatformReach,
  path: string,
  body?: object | string[],
): Promise<CallResult> => {
  return callPlatform(reach, {
    method: body ? 'POST' : 'GET',
    url: `${reach.settings.baseUrl}/api/v4/${path}`,
    headers: bearer(reach),
    ...(body && { body }),
    refusalIn,
  });
};

const bearer = ({ settings }: PlatformReach) => ({
  authorization: `Bearer ${settings.secrets.botToken ?? ''}`,
});

const refusalIn: RefusalIn = (reply) => {
  const reason = asText(reply.body.message);
  return platformRefusal(
    withPatience(reply),
    `Mattermost returned ${reply.status}${reason && `: ${reason}`}`,
  );
};

/** Mattermost uses its own header for the seconds until the rate limit ends. */
const withPatience = (reply: PlatformCallReply): PlatformCallReply => {
  const { 'x-ratelimit-reset': reset, ...headers } = reply.headers;
  return reset === undefined ? reply : { ...reply, headers: { 'retry-after': reset, ...headers } };
};

const directChannel = async (reach: PlatformReach, userId: string): Promise<CallResult> => {
  const me = await call(reach, 'users/me');
  return me.verdict === 'replied' ? call(reach, 'channels/direct', [readReplyId(me), userId]) : me;
};

const readReplyId = ({ body }: PlatformCallReply): string => asText(body.id);

/** Slash replies cannot have attachments, so URLs are code. */
const plain = (text: string): string =>
  writeMarkdown(messageLines({ title: null, text }), {
    ...mattermostRules,
    link: (url) => `\`${url}\``,
  });
