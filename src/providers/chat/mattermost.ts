import {
  asText,
  callPlatform,
  type PlatformAnswer,
  type PlatformCall,
  platformRefusal,
} from './call.js';
import { type Block, blocksOf, hasFences, type Marked, markedPieces } from './marks.js';
import { buttonsOf, questionIn } from './mattermostbuttons.js';
import { COMMAND, isMattermosts, parseMattermost } from './mattermostinbound.js';
import type { Platform, PlatformBody, PlatformReach, PlatformSent } from './platform.js';
import { unlinked } from './unlink.js';

/** Mattermost, Post: characters of a message. */
const LONGEST = 16_383;

/** Mattermost: slash commands and outgoing webhooks; words go out as the bot's direct messages. */
export const mattermost: Platform = {
  kind: 'mattermost',
  door: 'teamchat',
  // Where a server of one's own listens unless told otherwise: there is no one service.
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
  answer: ({ kind, replyTo }, text, isOver) => {
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
    return question ? [...parts.slice(0, -1), { ...parts.at(-1), question }] : parts;
  },
  send: async (reach, to, { question, ...post }) => {
    const channel = await directChannel(reach, to);
    if (channel.verdict !== 'called') return nothingSent(channel);
    const asked = questionIn(question);
    const props = asked && buttonsOf(asked, to, reach);
    return sentOf(
      await call(reach, 'posts', { channel_id: idOf(channel), ...post, ...(props && { props }) }),
    );
  },
  check: async (reach) => {
    const me = await call(reach, 'users/me');
    if (me.verdict !== 'called') return { ok: false, error: me.error };
    return { ok: true, account: `@${asText(me.body.username)}` };
  },
};

/** What the marks around a title and around code take in one post, with room. */
const MARKS = 64;

const shown = (piece: Marked): string => {
  const text = blocksOf(piece).map(markdownOf).join('\n');
  return text.length <= LONGEST ? text : plain(piece.text);
};

/** A fence longer than any in the code ends it. */
const markdownOf = ({ style, text }: Block): string => {
  if (style === 'text') return plain(text);
  if (style === 'title') return text.trim() === '' ? '' : `**${plain(text.trim())}**`;
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return [fence, text, fence].join('\n');
};

/** Of a decided question nothing is left to press. */
const inPlaceOf = (text: string) => ({ update: { message: plain(text), props: {} } });

type MattermostRefusal = Exclude<PlatformSent, { verdict: 'sent' }>;
interface MattermostReply {
  verdict: 'called';
  status: number;
  excerpt: string;
  body: Record<string, unknown>;
}

/** A GET, or with a body a POST, of the REST API as the bot; anything but success is a refusal. */
const call = async (reach: PlatformReach, path: string, body?: object | string[]) => {
  const { baseUrl, secrets } = reach.settings;
  const asked: PlatformCall = {
    method: body ? 'POST' : 'GET',
    url: `${baseUrl}/api/v4/${path}`,
    headers: { authorization: `Bearer ${secrets.botToken ?? ''}` },
    ...(body && { body }),
  };
  const reply = await callPlatform(reach, asked);
  if (reply.verdict !== 'answered') return reply;
  const said = asText(reply.body.message);
  const error = `Mattermost says ${reply.status}${said && `: ${said}`}`;
  const refusal = platformRefusal(withPatience(reply), error);
  if (refusal && refusal.verdict !== 'sent') return refusal;
  const { status, excerpt } = reply;
  return { verdict: 'called', status, excerpt, body: reply.body } satisfies MattermostReply;
};

/** Mattermost tells in seconds when its limit is over, in a header of its own. */
const withPatience = (reply: PlatformAnswer): PlatformAnswer => {
  const { 'x-ratelimit-reset': reset, ...headers } = reply.headers;
  return reset === undefined ? reply : { ...reply, headers: { 'retry-after': reset, ...headers } };
};

/** The channel of the bot and that user, which is made where there is none yet. */
const directChannel = async (
  reach: PlatformReach,
  userId: string,
): Promise<MattermostReply | MattermostRefusal> => {
  const me = await call(reach, 'users/me');
  return me.verdict === 'called' ? call(reach, 'channels/direct', [idOf(me), userId]) : me;
};

/** What fails before the post was asked for may be asked for again. */
const nothingSent = (refusal: MattermostRefusal): PlatformSent =>
  refusal.verdict === 'unknown' ? { ...refusal, verdict: 'retry' } : refusal;

const sentOf = (posted: MattermostReply | MattermostRefusal): PlatformSent => {
  if (posted.verdict !== 'called') return posted;
  const { status, excerpt } = posted;
  return { verdict: 'sent', receipt: idOf(posted) || null, status, excerpt };
};

const idOf = ({ body }: MattermostReply): string => asText(body.id);

/** U+200B behind an `@` or a `~` keeps the word from being the name of anybody or any channel. */
const HIDDEN = '\u200b';
/**
 * Text that stays text: Markdown's marks are escaped, nobody is mentioned, and no address is a link,
 * since the server fetches what is linked to show a preview of it, and no post can keep it from that.
 */
const plain = (text: string): string =>
  unlinked(text)
    .replace(/[\\`*_[\]|>]|~(?=~)/g, '\\$&')
    .replace(/^([ \t]*)([#+-])/gm, '$1\\$2')
    .replace(/^([ \t]*\d{1,9})([.)])/gm, '$1\\$2')
    .replace(/^(?=[ \t]*=+[ \t]*$)/gm, HIDDEN)
    .replace(/@|~(?=\w)/g, `$&${HIDDEN}`);
