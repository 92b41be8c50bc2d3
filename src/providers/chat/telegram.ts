import { createHash } from 'node:crypto';
import { isSame } from '../../kernel/signature.js';
import { SCOPE_LABELS } from './buttonscopes.js';
import {
  asObject,
  asText,
  callPlatform,
  type PlatformCallReply,
  platformRefusal,
  type RefusalIn,
  toPlatformCheck,
  toPlatformSent,
} from './call.js';
import { type MessageLimits, splitIntoMessages } from './markdown/fit.js';
import type { TextLine } from './markdown/lines.js';
import { messageLines } from './markdown/message.js';
import { splitText } from './markdown/split.js';
import {
  MAX_ENTITIES,
  telegramEntityCount,
  telegramLines,
  telegramSize,
  telegramText,
  withoutTapTargetsText,
} from './markdown/telegramentities.js';
import { withLast } from './part.js';
import type {
  Platform,
  PlatformBody,
  PlatformQuestion,
  PlatformReach,
  PlatformRefusal,
  PlatformSent,
} from './platform.js';
import { parseTelegram, replyPlace, telegramButtons } from './telegraminbound.js';

/** In UTF-16 units. */
const MESSAGE = 4_096;
const LIMITS: MessageLimits = {
  most: MESSAGE,
  sizeOf: telegramSize,
  // Code or a quote continued from the previous message takes one more.
  ranges: { most: MAX_ENTITIES - 2, countOf: telegramEntityCount },
};
const MAX_TOAST_LENGTH = 200;

/** Private chats only. Groups and other bots are ignored. */
export const telegram: Platform = {
  kind: 'telegram',
  endpoint: 'messenger',
  baseUrl: 'https://api.telegram.org',
  fields: [
    {
      name: 'botToken',
      doc: 'Token that @BotFather returns for /newbot',
      isSecret: true,
      requiredFor: ['send'],
    },
    {
      name: 'webhookSecret',
      doc: 'Secret of your choice: 32 to 256 letters, digits, _ or -. Telegram sends this secret with each request',
      isSecret: true,
      form: { pattern: /^[\w-]{32,256}$/, fault: 'must be 32 to 256 letters, digits, _ or -' },
      requiredFor: ['receive'],
    },
  ],
  setup: (receiver) => [
    'Send /newbot to @BotFather and set botToken to the token it returns',
    'Set webhookSecret to a random text, for example from: openssl rand -hex 32',
    `Register the URL ${receiver} at Telegram: adjutant platforms install telegram`,
    'Send /link to your bot and redeem the code: adjutant channels link CODE',
  ],

  matchesHeaders: (headers) => headers['x-telegram-bot-api-secret-token'] !== undefined,
  verify: ({ headers }, { secrets }) =>
    isSameSecret(headers['x-telegram-bot-api-secret-token'], secrets.webhookSecret),
  parse: ({ body }) => [parseTelegram(body)],
  reply: (event, text) => {
    const { chat_id, callback_query_id } = replyPlace(event.replyTo);
    const toast = beginning(text, MAX_TOAST_LENGTH);
    return event.kind === 'button'
      ? { method: 'answerCallbackQuery', callback_query_id, text: toast }
      : { method: 'sendMessage', chat_id, ...plain(beginning(text, MESSAGE)) };
  },

  render: (message) => {
    const parts = splitIntoMessages(telegramLines(messageLines(message)), LIMITS).map(shown);
    const { question } = message;
    if (!question) return parts;
    return withLast(parts, { reply_markup: { inline_keyboard: keyboard(question) } });
  },
  send: async (reach, to, part) => {
    const post = async (body: PlatformBody): Promise<PlatformSent> =>
      toPlatformSent(await call(reach, 'sendMessage', { chat_id: to, ...body }), receiptIn);
    const sent = await post(part);
    const { entities, ...rest } = part;
    if (!entities || !isFormatRefused(sent)) return sent;
    return post({ ...rest, text: beginning(withoutTapTargetsText(asText(part.text)), MESSAGE) });
  },
  conclude: async (reach, { replyTo }, text) => {
    const { chat_id, message_id } = replyPlace(replyTo);
    const message = { chat_id, message_id, ...plain(text) };
    return toPlatformSent(await call(reach, 'editMessageText', message), receiptIn);
  },
  files: {
    hosts: [],
    find: async (reach, { name, ref }) => {
      const reply = await call(reach, 'getFile', { file_id: ref });
      if (reply.verdict !== 'replied')
        return isTooBig(reply) ? { ...reply, error: TOO_BIG } : reply;
      const path = asText(asObject(reply.body.result).file_path).split('/');
      const url = `${reach.settings.baseUrl}/file/${botIn(reach)}/${path.map(encodeURIComponent).join('/')}`;
      return { verdict: 'found', url, name: name ?? path.at(-1) ?? null };
    },
  },
  check: async (reach) =>
    toPlatformCheck(
      await call(reach, 'getMe', {}),
      ({ body }) => `@${asText(asObject(body.result).username)}`,
    ),
  install: async (reach) => {
    const { receiver: url, settings } = reach;
    const { webhookSecret: secret_token } = settings.secrets;
    const allowed_updates = ['message', 'callback_query'];
    const requested = { url, secret_token, allowed_updates };
    return toPlatformCheck(await call(reach, 'setWebhook', requested), () => url);
  },
};

const beginning = (text: string, most: number): string => splitText(text, most)[0] ?? '';

/** Constant time. Digests are compared, so that the length does not leak. */
const isSameSecret = (input: string | undefined, secret: string | undefined): boolean => {
  if (input === undefined || !secret) return false;
  const [a, b] = [input, secret].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && isSame(a, b);
};

/** No parse_mode, so no markup. No link previews. */
const plain = (text: string): PlatformBody => ({
  text,
  link_preview_options: { is_disabled: true },
});

/** Styles are given as positions. */
const shown = (lines: TextLine[]): PlatformBody => {
  const { text, entities } = telegramText(lines);
  return { ...plain(text), ...(entities.length > 0 && { entities }) };
};

/** The text without entities has the same content. */
const isFormatRefused = (sent: PlatformSent): boolean =>
  sent.verdict === 'failed' && sent.status === 400 && /entit/i.test(sent.error);

const keyboard = (question: PlatformQuestion) => [
  [
    { text: 'Approve', callback_data: telegramButtons.write(question, 'approve') },
    { text: 'Deny', callback_data: telegramButtons.write(question, 'deny') },
  ],
  ...(question.grantScopes ?? []).map((scope) => [
    { text: SCOPE_LABELS[scope], callback_data: telegramButtons.write(question, scope) },
  ]),
];

const call = (reach: PlatformReach, method: string, body: PlatformBody) => {
  const url = `${reach.settings.baseUrl}/${botIn(reach)}/${method}`;
  return callPlatform(reach, { url, body, refusalIn });
};

const botIn = ({ settings: { secrets } }: PlatformReach): string =>
  `bot${encodeURIComponent(secrets.botToken ?? '').replaceAll('%3A', ':')}`;

const TOO_BIG = 'it exceeds the 20 MB limit of Telegram for bots';
const isTooBig = ({ error }: PlatformRefusal): boolean => /file is too big/i.test(error);

const refusalIn: RefusalIn = (reply) => {
  if (reply.body.ok === true) return null;
  const { status, excerpt } = reply;
  const reason = asText(reply.body.description);
  const error = `Telegram returned ${status}${reason && `: ${reason}`}`;
  const seconds = Number(asObject(reply.body.parameters).retry_after);
  const afterMs = seconds > 0 ? { afterMs: seconds * 1000 } : {};
  // A 502 comes from the servers in front of the Bot API: the request was not processed.
  if (status === 502) return { verdict: 'retry', error, status, excerpt, ...afterMs };
  const refusal = platformRefusal(reply, error);
  if (!refusal) return { verdict: 'unknown', error, status, excerpt };
  return { ...refusal, ...(refusal.verdict === 'retry' && afterMs) };
};

const receiptIn = ({ body }: PlatformCallReply): string | null => {
  const { message_id } = asObject(body.result);
  return message_id === undefined ? null : String(message_id);
};
