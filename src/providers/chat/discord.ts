import { version } from '../../version.js';
import { type ButtonChoice, SCOPE_LABELS } from './buttonscopes.js';
import {
  asText,
  type CallResult,
  callPlatform,
  nothingSent,
  type PlatformCall,
  type PlatformCallReply,
  platformRefusal,
  type RefusalIn,
  toPlatformCheck,
  toPlatformSent,
} from './call.js';
import {
  DISCORD_COMMANDS,
  discordButtons,
  followUp,
  isDiscords,
  PUBLIC_KEY,
  parseDiscord,
} from './discordinbound.js';
import { splitIntoMessages } from './markdown/fit.js';
import { messageLines } from './markdown/message.js';
import { discordRules } from './markdown/rules.js';
import { markdownLimits, writeMarkdown } from './markdown/write.js';
import { withLast } from './part.js';
import type {
  ChannelMessage,
  ChatEvent,
  Platform,
  PlatformBody,
  PlatformCheck,
  PlatformQuestion,
  PlatformReach,
} from './platform.js';

const MAX_MESSAGE_LENGTH = 2_000;

/** Message flags: no link previews, and visible only to the recipient. */
const WITHOUT_PREVIEWS = 1 << 2;
const EPHEMERAL = 1 << 6;

/** Interaction response types (Discord, Receiving and Responding). */
const MESSAGE = 4;
const MESSAGE_LATER = 5;
const UPDATE_LATER = 6;
const UPDATE = 7;

const DEFERRED_TEXT = 'One moment. The reply is sent as a direct message.';

/**
 * Commands and buttons arrive over HTTP, so no gateway connection is needed. Text is sent as direct
 * messages of the bot.
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
      requiredFor: ['send'],
    },
    {
      name: 'publicKey',
      doc: 'Your application, General Information, Public Key: 64 hex digits. Verifies the requests of Discord',
      isSecret: false,
      form: { pattern: PUBLIC_KEY, fault: 'must be 64 hex digits' },
      requiredFor: ['receive'],
    },
  ],
  setup: (receiver) => [
    'discord.com/developers/applications: New Application, then Bot, Reset Token: set it as botToken',
    'General Information: set the Public Key as publicKey',
    'Installation: add the scope applications.commands for user and server, and the scope bot for the server. Open the install link and add the app to your server',
    `Register the URL ${receiver} and the commands at Discord: adjutant platforms install discord`,
    'The bot sends direct messages: share a server with the bot and allow direct messages from server members',
    'Send /link and redeem the code: adjutant channels link CODE',
  ],

  matchesHeaders: (headers) => headers['x-signature-ed25519'] !== undefined,
  verify: isDiscords,
  parse: ({ body }) => [parseDiscord(body)],
  reply: ({ kind }, text, isOver) =>
    kind === 'button' && isOver
      ? { type: UPDATE, data: { ...concludedMessage(text) } }
      : { type: MESSAGE, data: ephemeralMessage(text) },
  pendingReply: () => ({ type: MESSAGE, data: ephemeralMessage(DEFERRED_TEXT) }),
  deferral: {
    // Discord waits three seconds.
    afterMs: 2_000,
    reply: ({ kind }) =>
      kind === 'button'
        ? { type: UPDATE_LATER }
        : { type: MESSAGE_LATER, data: { flags: EPHEMERAL } },
    finish: async (reach, event, outcome) =>
      outcome || event.kind === 'message'
        ? finish(reach, event, outcome ?? { text: DEFERRED_TEXT })
        : { verdict: 'sent', receipt: null },
  },

  render: (message) => {
    const parts = renderMessageTexts(message).map(buildMessageBody);
    const { question } = message;
    return question ? withLast(parts, { components: [buildButtons(question)] }) : parts;
  },
  send: async (reach, to, part) => {
    const channel = await call(reach, { url: 'users/@me/channels', body: { recipient_id: to } });
    if (channel.verdict !== 'replied') return nothingSent(channel);
    const url = `channels/${encodeURIComponent(readReplyId(channel))}/messages`;
    return toPlatformSent(
      await call(reach, { url, body: part }),
      (sent) => readReplyId(sent) || null,
    );
  },
  check: async (reach) => {
    const reply = await call(reach, { method: 'GET', url: 'applications/@me' });
    return isOther(reply, reach)
      ? { ok: false, error: OTHER_KEY }
      : toPlatformCheck(reply, readReplyName);
  },
  install: (reach) => install(reach),
};

const OTHER_KEY = 'The publicKey does not belong to the application of the botToken';

const isOther = (reply: CallResult, { settings: { values } }: PlatformReach): boolean => {
  if (reply.verdict !== 'replied' || values.publicKey === undefined) return false;
  return asText(reply.body.verify_key).toLowerCase() !== values.publicKey.toLowerCase();
};

/**
 * Commands first, then the URL: Discord immediately sends one request with a valid and one with an
 * invalid signature.
 */
const install = async (reach: PlatformReach): Promise<PlatformCheck> => {
  const own = await call(reach, { method: 'GET', url: 'applications/@me' });
  if (own.verdict !== 'replied') return toPlatformCheck(own, readReplyName);
  const url = `applications/${encodeURIComponent(readReplyId(own))}/commands`;
  const registered = await call(reach, { method: 'PUT', url, body: DISCORD_COMMANDS });
  if (registered.verdict !== 'replied') return toPlatformCheck(registered, readReplyName);
  const body = { interactions_endpoint_url: reach.receiver };
  const installed = await call(reach, { method: 'PATCH', url: 'applications/@me', body });
  return toPlatformCheck(installed, () => reach.receiver);
};

const readReplyId = ({ body }: PlatformCallReply): string => asText(body.id);
const readReplyName = ({ body }: PlatformCallReply): string => asText(body.name);

const finish = async (
  reach: PlatformReach,
  { kind, replyTo }: ChatEvent,
  { text, isOver = false }: { text: string; isOver?: boolean },
) => {
  const path = followUp(replyTo);
  const original = `${path}/messages/@original`;
  const requested: Pick<PlatformCall, 'method' | 'url' | 'body'> =
    kind === 'message'
      ? { method: 'PATCH', url: original, body: ephemeralMessage(text) }
      : isOver
        ? { method: 'PATCH', url: original, body: concludedMessage(text) }
        : { url: path, body: ephemeralMessage(text) };
  return toPlatformSent(await call(reach, requested), (sent) => readReplyId(sent) || null);
};

/** No mentions and no link previews. */
const buildMessageBody = (content: string): PlatformBody => ({
  content,
  allowed_mentions: { parse: [] },
  flags: WITHOUT_PREVIEWS,
});

const renderMessageTexts = (message: ChannelMessage): string[] =>
  splitIntoMessages(
    messageLines(message, true),
    markdownLimits(discordRules, MAX_MESSAGE_LENGTH),
  ).map((lines) => writeMarkdown(lines, discordRules));

const first = (text: string): string => renderMessageTexts({ title: null, text })[0] ?? '';

const ephemeralMessage = (text: string): PlatformBody => ({
  ...buildMessageBody(first(text)),
  flags: WITHOUT_PREVIEWS | EPHEMERAL,
});

const concludedMessage = (text: string): PlatformBody => ({
  ...buildMessageBody(first(text)),
  components: [],
});

const ROW = 1;
const BUTTON = 2;
const STYLES = { plain: 2, good: 3, danger: 4 } as const;

const buildButtons = (question: PlatformQuestion) => {
  const button = (choice: ButtonChoice, label: string, style: keyof typeof STYLES) => ({
    type: BUTTON,
    label,
    style: STYLES[style],
    custom_id: discordButtons.write(question, choice),
  });
  const components = [
    button('approve', 'Approve', 'good'),
    button('deny', 'Deny', 'danger'),
    ...(question.grantScopes ?? []).map((scope) => button(scope, SCOPE_LABELS[scope], 'plain')),
  ];
  return { type: ROW, components };
};

const call = (reach: PlatformReach, requested: PlatformCall): Promise<CallResult> => {
  const { baseUrl, secrets } = reach.settings;
  const origin = URL.canParse(reach.receiver) ? new URL(reach.receiver).origin : 'unknown';
  return callPlatform(reach, {
    ...requested,
    url: `${baseUrl}/${requested.url}`,
    headers: {
      authorization: `Bot ${secrets.botToken ?? ''}`,
      // Discord blocks clients with another user agent format.
      'user-agent': `DiscordBot (${origin}, ${version})`,
    },
    refusalIn,
  });
};

/** Errors whose text does not say what to do (Discord, JSON Error Codes). */
const ERROR_TEXTS: Record<number, string> = {
  50007:
    'The bot cannot message this user. The user must share a server with the bot and allow direct messages from the bot',
  50035: 'Discord rejected the request as invalid',
};

const refusalIn: RefusalIn = (reply) => {
  const { code, message, retry_after } = reply.body;
  const reason =
    ERROR_TEXTS[Number(code)] ?? `Discord returned ${reply.status}: ${asText(message)}`;
  const refusal = platformRefusal(reply, reason);
  const afterMs = Math.ceil(Number(retry_after) * 1000);
  return refusal?.verdict === 'retry' && afterMs > 0 ? { ...refusal, afterMs } : refusal;
};
