import { version } from '../../version.js';
import {
  asText,
  type CallResult,
  callPlatform,
  checkOf,
  nothingSent,
  type PlatformCall,
  type PlatformCallReply,
  platformRefusal,
  type RefusalIn,
  sentOf,
} from './call.js';
import {
  buttonDiscord,
  DISCORD_COMMANDS,
  followUp,
  isDiscords,
  PUBLIC_KEY,
  parseDiscord,
} from './discordinbound.js';
import {
  blocksOf,
  hasFences,
  type Marked,
  markedPieces,
  type StyledBlock,
  withLast,
} from './marks.js';
import type {
  ChannelMessage,
  ChatEvent,
  Platform,
  PlatformBody,
  PlatformCheck,
  PlatformQuestion,
  PlatformReach,
} from './platform.js';
import { splitText } from './split.js';

/** The most characters of a message. */
const LONGEST = 2_000;
/** The characters reserved in one message for the marks around a title and code. */
const MARKS = 64;

/** The flags of a message: without previews of its links, and shown to its recipient alone. */
const WITHOUT_PREVIEWS = 1 << 2;
const EPHEMERAL = 1 << 6;

/** The kinds of replies to an interaction (Discord, Receiving and Responding). */
const MESSAGE = 4;
const MESSAGE_LATER = 5;
const UPDATE_LATER = 6;
const UPDATE = 7;

const COMES = 'One moment: the answer comes as a direct message.';

/**
 * The platform Discord: commands and buttons come in by HTTP, so no gateway connection is needed;
 * text goes out as direct messages of the bot.
 */
export const discord: Platform = {
  kind: 'discord',
  endpoint: 'teamchat',
  baseUrl: 'https://discord.com/api/v10',
  fields: [
    {
      name: 'botToken',
      doc: 'Your application, Bot, Reset Token: shown once',
      isSecret: true,
      neededTo: ['send'],
    },
    {
      name: 'publicKey',
      doc: 'Your application, General Information, Public Key: 64 hex digits. Discord signs with its other half',
      isSecret: false,
      form: { pattern: PUBLIC_KEY, fault: 'must be 64 hex digits' },
      neededTo: ['receive'],
    },
  ],
  setup: (receiver) => [
    'discord.com/developers/applications: New Application, then Bot, Reset Token: set it as botToken',
    'General Information: set the Public Key as publicKey',
    'Installation: for a user and for a server the scopes applications.commands, for a server bot too; open the install link and add it to your server',
    `Then have Discord send to ${receiver}, and register the commands: adjutant platforms install discord`,
    'The bot writes direct messages, so share a server with it, and let its members write to you',
    'Say /link, and redeem the code: adjutant channels link CODE',
  ],

  claims: (headers) => headers['x-signature-ed25519'] !== undefined,
  verify: isDiscords,
  parse: ({ body }) => [parseDiscord(body)],
  reply: ({ kind }, text, isOver) =>
    kind === 'button' && isOver
      ? { type: UPDATE, data: { ...concluded(text) } }
      : { type: MESSAGE, data: whispered(text) },
  taken: () => ({ type: MESSAGE, data: whispered(COMES) }),
  deferral: {
    // Discord waits for three seconds.
    afterMs: 2_000,
    reply: ({ kind }) =>
      kind === 'button'
        ? { type: UPDATE_LATER }
        : { type: MESSAGE_LATER, data: { flags: EPHEMERAL } },
    finish: async (reach, event, outcome) =>
      outcome || event.kind === 'message'
        ? finish(reach, event, outcome ?? { text: COMES })
        : { verdict: 'sent', receipt: null },
  },

  render: (message) => {
    const parts = piecesOf(message).map((piece) => bodyOf(shown(piece)));
    const { question } = message;
    return question ? withLast(parts, { components: [buttonsOf(question)] }) : parts;
  },
  send: async (reach, to, part) => {
    const channel = await call(reach, { url: 'users/@me/channels', body: { recipient_id: to } });
    if (channel.verdict !== 'replied') return nothingSent(channel);
    const url = `channels/${encodeURIComponent(idOf(channel))}/messages`;
    return sentOf(await call(reach, { url, body: part }), (sent) => idOf(sent) || null);
  },
  check: async (reach) => {
    const reply = await call(reach, { method: 'GET', url: 'applications/@me' });
    return isOther(reply, reach) ? { ok: false, error: OTHER_KEY } : checkOf(reply, nameOf);
  },
  install: (reach) => install(reach),
};

const OTHER_KEY = 'The publicKey is not that of the application to which the botToken belongs';

const isOther = (reply: CallResult, { settings: { values } }: PlatformReach): boolean => {
  if (reply.verdict !== 'replied' || values.publicKey === undefined) return false;
  return asText(reply.body.verify_key).toLowerCase() !== values.publicKey.toLowerCase();
};

/**
 * Registers the commands, and then the address, to which Discord at once sends a request with a
 * right signature and one with a wrong one.
 */
const install = async (reach: PlatformReach): Promise<PlatformCheck> => {
  const own = await call(reach, { method: 'GET', url: 'applications/@me' });
  if (own.verdict !== 'replied') return checkOf(own, nameOf);
  const url = `applications/${encodeURIComponent(idOf(own))}/commands`;
  const registered = await call(reach, { method: 'PUT', url, body: DISCORD_COMMANDS });
  if (registered.verdict !== 'replied') return checkOf(registered, nameOf);
  const body = { interactions_endpoint_url: reach.receiver };
  const told = await call(reach, { method: 'PATCH', url: 'applications/@me', body });
  return checkOf(told, () => reach.receiver);
};

const idOf = ({ body }: PlatformCallReply): string => asText(body.id);
const nameOf = ({ body }: PlatformCallReply): string => asText(body.name);

/** Sends the reply to an interaction for which Discord does not wait any more. */
const finish = async (
  reach: PlatformReach,
  { kind, replyTo }: ChatEvent,
  { text, isOver = false }: { text: string; isOver?: boolean },
) => {
  const path = followUp(replyTo);
  const original = `${path}/messages/@original`;
  const asked: Pick<PlatformCall, 'method' | 'url' | 'body'> =
    kind === 'message'
      ? { method: 'PATCH', url: original, body: whispered(text) }
      : isOver
        ? { method: 'PATCH', url: original, body: concluded(text) }
        : { url: path, body: whispered(text) };
  return sentOf(await call(reach, asked), (sent) => idOf(sent) || null);
};

/** Returns a message that mentions nobody and fetches no link for a preview. */
const bodyOf = (content: string): PlatformBody => ({
  content,
  allowed_mentions: { parse: [] },
  flags: WITHOUT_PREVIEWS,
});

const first = (text: string): string => plain(splitText(text, LONGEST, widest)[0] ?? '');

/** Returns a message that is shown to the person alone who gave the command. */
const whispered = (text: string): PlatformBody => ({
  ...bodyOf(first(text)),
  flags: WITHOUT_PREVIEWS | EPHEMERAL,
});

/** Returns the message that replaces a decided question and removes its buttons. */
const concluded = (text: string): PlatformBody => ({ ...bodyOf(first(text)), components: [] });

const ROW = 1;
const BUTTON = 2;
const STYLES = { good: 3, danger: 4 } as const;

const buttonsOf = (question: PlatformQuestion) => {
  const button = (label: string, style: keyof typeof STYLES) => ({
    type: BUTTON,
    label,
    style: STYLES[style],
    custom_id: buttonDiscord(question, style === 'good'),
  });
  return { type: ROW, components: [button('Approve', 'good'), button('Deny', 'danger')] };
};

/** Calls the REST API as the bot, by a path below the base URL. */
const call = (reach: PlatformReach, asked: PlatformCall): Promise<CallResult> => {
  const { baseUrl, secrets } = reach.settings;
  const origin = URL.canParse(reach.receiver) ? new URL(reach.receiver).origin : 'unknown';
  return callPlatform(reach, {
    ...asked,
    url: `${baseUrl}/${asked.url}`,
    headers: {
      authorization: `Bot ${secrets.botToken ?? ''}`,
      // Discord blocks clients whose name has another form.
      'user-agent': `DiscordBot (${origin}, ${version})`,
    },
    refusalIn,
  });
};

/** The errors whose own text does not say what to do (Discord, JSON Error Codes). */
const KNOWN: Record<number, string> = {
  50007:
    'Discord does not let the bot write to this person, who shares no server with it or takes no direct messages from there',
  50035: 'Discord refuses the form of the request',
};

const refusalIn: RefusalIn = (reply) => {
  const { code, message, retry_after } = reply.body;
  const reason = KNOWN[Number(code)] ?? `Discord says ${reply.status}: ${asText(message)}`;
  const refusal = platformRefusal(reply, reason);
  const afterMs = Math.ceil(Number(retry_after) * 1000);
  return refusal?.verdict === 'retry' && afterMs > 0 ? { ...refusal, afterMs } : refusal;
};

const widest = (text: string): number => plain(text).length;

const piecesOf = (message: ChannelMessage): Marked[] => {
  const most = LONGEST - (message.title || hasFences(message.text) ? MARKS : 0);
  return markedPieces(message, { between: '\n', most, measure: widest });
};

const shown = (piece: Marked): string => {
  const text = blocksOf(piece).map(markdownOf).join('\n');
  return text.length <= LONGEST ? text : plain(piece.text);
};

const FENCE = '```';
/** U+200B, zero width space. */
const HIDDEN = '\u200b';

/** Returns a block as Discord's Markdown. A fence within code is broken, since it would end it. */
const markdownOf = ({ style, text }: StyledBlock): string => {
  if (style === 'text') return plain(text);
  if (style === 'title') return text.trim() === '' ? '' : `**${plain(text.trim())}**`;
  return [FENCE, text.replace(/`(?=``)/g, `$&${HIDDEN}`), FENCE].join('\n');
};

/** An address, which Discord reads before any mark, or a mark. */
const ADDRESS_OR_MARK = /https?:\/\/[^\s<]+|[\\`*_~|[\]<>]/gi;

/** Returns text in which no mark of Discord's Markdown has an effect, and no tag mentions anybody. */
const plain = (text: string): string =>
  text
    .replace(ADDRESS_OR_MARK, (found) => (found.length > 1 ? found : `\\${found}`))
    .replace(/^([ \t]*)([#+-])/gm, '$1\\$2')
    .replace(/^([ \t]*\d{1,9})([.)])/gm, '$1\\$2');
