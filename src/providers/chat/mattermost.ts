import {
  asText,
  type CallResult,
  callPlatform,
  checkOf,
  nothingSent,
  type PlatformCallReply,
  platformRefusal,
  type RefusalIn,
  sentOf,
} from './call.js';
import {
  blocksOf,
  hasFences,
  type Marked,
  markedPieces,
  type StyledBlock,
  unlinked,
  withLast,
} from './marks.js';
import { buttonsOf, questionIn } from './mattermostbuttons.js';
import { COMMAND, isMattermosts, parseMattermost } from './mattermostinbound.js';
import type { Platform, PlatformBody, PlatformReach } from './platform.js';

/** The most characters of a message (Mattermost, Post). */
const LONGEST = 16_383;

/**
 * The platform Mattermost: slash commands and outgoing webhooks come in; text goes out as direct
 * messages of the bot.
 */
export const mattermost: Platform = {
  kind: 'mattermost',
  endpoint: 'teamchat',
  // The usual address of a self-hosted server, since there is no central service.
  baseUrl: 'http://localhost:8065',
  fields: [
    {
      name: 'botToken',
      doc: 'Integrations, Bot Accounts: the token that is shown once when the bot is made',
      isSecret: true,
      neededTo: ['send'],
    },
    {
      name: 'commandTokens',
      doc: 'Integrations: the token of each slash command and outgoing webhook, several apart by a space',
      isSecret: true,
      neededTo: ['receive'],
    },
  ],
  setup: (receiver) => [
    'Set the address of your server, https://chat.example.org, as base URL',
    'Integrations, Bot Accounts, Add: set the token that is shown as botToken',
    `Integrations, Slash Commands, Add: /link and /adjutant, Request Method POST, Request URL ${receiver}`,
    'Set the tokens of both as commandTokens, apart by a space',
    'For a channel where people write without a command: Outgoing Webhooks, Add, with the same URL, and its token behind the others',
    'The buttons of approvals come to the same URL',
    'If the receiver is in a private network: System Console, Developer, Allow untrusted internal connections',
    'Say /link, and redeem the code: adjutant channels link CODE',
  ],

  claims: (headers) =>
    headers.authorization?.startsWith('Token ') ||
    headers['user-agent']?.startsWith('Mattermost-Bot/') ||
    false,
  verify: ({ body }, { secrets }) => isMattermosts(body, secrets),
  parse: ({ body }) => [parseMattermost(body)],
  reply: ({ kind, replyTo }, text, isOver) => {
    if (kind === 'button') return isOver ? inPlaceOf(text) : { ephemeral_text: plain(text) };
    return replyTo === COMMAND ? { response_type: 'ephemeral', text: plain(text) } : null;
  },

  render: (message) => {
    const { question, title, text } = message;
    const most = LONGEST - (title || hasFences(text) ? MARKS : 0);
    const layout = { between: '\n\n', most, measure: (one: string) => plain(one).length };
    const parts = markedPieces(message, layout).map(
      (piece): PlatformBody => ({ message: shown(piece) }),
    );
    return question ? withLast(parts, { question }) : parts;
  },
  send: async (reach, to, { question, ...post }) => {
    const channel = await directChannel(reach, to);
    if (channel.verdict !== 'replied') return nothingSent(channel);
    const asked = questionIn(question);
    const props = asked && buttonsOf(asked, to, reach);
    const body = { channel_id: idOf(channel), ...post, ...(props && { props }) };
    return sentOf(await call(reach, 'posts', body), (posted) => idOf(posted) || null);
  },
  check: async (reach) =>
    checkOf(await call(reach, 'users/me'), ({ body }) => `@${asText(body.username)}`),
};

/** The characters reserved in one post for the marks around a title and code. */
const MARKS = 64;

const shown = (piece: Marked): string => {
  const text = blocksOf(piece).map(markdownOf).join('\n');
  return text.length <= LONGEST ? text : plain(piece.text);
};

/** Returns a block as Markdown. The fence is longer than any in the code. */
const markdownOf = ({ style, text }: StyledBlock): string => {
  if (style === 'text') return plain(text);
  if (style === 'title') return text.trim() === '' ? '' : `**${plain(text.trim())}**`;
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return [fence, text, fence].join('\n');
};

/** Returns the update that replaces a decided question and removes its buttons. */
const inPlaceOf = (text: string) => ({ update: { message: plain(text), props: {} } });

/**
 * Calls the REST API as the bot, with POST if there is a body, else GET. Any status but success is
 * a refusal.
 */
const call = (
  reach: PlatformReach,
  path: string,
  body?: object | string[],
): Promise<CallResult> => {
  const { baseUrl, secrets } = reach.settings;
  return callPlatform(reach, {
    method: body ? 'POST' : 'GET',
    url: `${baseUrl}/api/v4/${path}`,
    headers: { authorization: `Bearer ${secrets.botToken ?? ''}` },
    ...(body && { body }),
    refusalIn,
  });
};

const refusalIn: RefusalIn = (reply) => {
  const reason = asText(reply.body.message);
  return platformRefusal(
    withPatience(reply),
    `Mattermost says ${reply.status}${reason && `: ${reason}`}`,
  );
};

/** Copies the seconds until the rate limit ends from Mattermost's own header to `retry-after`. */
const withPatience = (reply: PlatformCallReply): PlatformCallReply => {
  const { 'x-ratelimit-reset': reset, ...headers } = reply.headers;
  return reset === undefined ? reply : { ...reply, headers: { 'retry-after': reset, ...headers } };
};

/** Returns the direct channel of the bot and that user, and creates it if there is none. */
const directChannel = async (reach: PlatformReach, userId: string): Promise<CallResult> => {
  const me = await call(reach, 'users/me');
  return me.verdict === 'replied' ? call(reach, 'channels/direct', [idOf(me), userId]) : me;
};

const idOf = ({ body }: PlatformCallReply): string => asText(body.id);

/** U+200B behind an `@` or a `~` keeps the word from being the name of a user or a channel. */
const HIDDEN = '\u200b';
/**
 * Returns text in which Markdown's marks are escaped, nobody is mentioned, and no address is a
 * link: the server fetches linked addresses for a preview, and a post cannot prevent that.
 */
const plain = (text: string): string =>
  unlinked(text)
    .replace(/[\\`*_[\]|>]|~(?=~)/g, '\\$&')
    .replace(/^([ \t]*)([#+-])/gm, '$1\\$2')
    .replace(/^([ \t]*\d{1,9})([.)])/gm, '$1\\$2')
    .replace(/^(?=[ \t]*=+[ \t]*$)/gm, HIDDEN)
    .replace(/@|~(?=\w)/g, `$&${HIDDEN}`);
