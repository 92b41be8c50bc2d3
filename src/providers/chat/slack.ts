import {
  asText,
  callPlatform,
  checkOf,
  type PlatformCallReply,
  platformRefusal,
  type RefusalIn,
  sentOf,
} from './call.js';
import { blocksOf, type Marked, markedPieces } from './marks.js';
import type { Platform, PlatformBody, PlatformQuestion, PlatformReach } from './platform.js';
import { COMMAND, isSlackSignature, parseSlack } from './slackinbound.js';
import { type ButtonScope, SCOPE_LABELS, SCOPE_TEXTS } from './buttonscopes.js';

/**
 * Slack advises at most 4,000 characters in a message, and accepts 3,000 in the text of a block.
 */
const MESSAGE = 4_000;
const BLOCK = 3_000;

/**
 * The platform Slack: the Events API, slash commands and buttons come in; text goes out as direct
 * messages of the bot.
 */
export const slack: Platform = {
  kind: 'slack',
  endpoint: 'teamchat',
  baseUrl: 'https://slack.com/api',
  fields: [
    {
      name: 'botToken',
      doc: 'OAuth & Permissions, Bot User OAuth Token: xoxb-…, with the scope chat:write',
      isSecret: true,
      neededTo: ['send'],
    },
    {
      name: 'signingSecret',
      doc: 'Basic Information, App Credentials, Signing Secret',
      isSecret: true,
      neededTo: ['receive'],
    },
  ],
  setup: (receiver) => [
    'api.slack.com/apps: Create New App, from scratch, in your workspace',
    'OAuth & Permissions: add the bot scopes chat:write, im:history and app_mentions:read, then Install',
    `Event Subscriptions: on, Request URL ${receiver}, bot events message.im and app_mention`,
    `Interactivity & Shortcuts: on, Request URL ${receiver}`,
    `Slash Commands: create /link and /adjutant, Request URL ${receiver}`,
    'App Home: allow users to send messages from the messages tab',
    'Then say /link to the bot, and redeem the code: adjutant channels link CODE',
  ],

  claims: (headers) => headers['x-slack-signature'] !== undefined,
  verify: isSlackSignature,
  parse: ({ body }) => [parseSlack(body)],
  reply: ({ replyTo }, text) =>
    replyTo === COMMAND ? { response_type: 'ephemeral', ...plain(text) } : null,

  render: (message) => {
    const most = message.question ? BLOCK : MESSAGE;
    const pieces = markedPieces(message, { between: '\n', most, measure: escapedLength });
    if (!message.question) return pieces.map(shown);
    const last = pieces.pop()?.text ?? '';
    return [...pieces.map(({ text }) => plain(text)), asking(last, message.question)];
  },
  send: async (reach, to, part) => {
    const channel = to.slice(to.indexOf(':') + 1);
    return sentOf(await call(reach, 'chat.postMessage', { channel, ...part }), receiptIn);
  },
  conclude: async (reach, { replyTo }, text) => {
    const [channel = '', ts = ''] = (replyTo ?? '').split(':');
    const message = { channel, ts, ...plain(text), blocks: [] };
    return sentOf(await call(reach, 'chat.update', message), receiptIn);
  },
  check: async (reach) =>
    checkOf(
      await call(reach, 'auth.test', {}),
      ({ body }) => `${asText(body.user)} in ${asText(body.team)}`,
    ),
};

/** Escapes the characters with which Slack writes tags, mentions and links. */
const entities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const escapedLength = (text: string): number => entities(text).length;

/**
 * Returns a message whose text is not read as markup: no `*bold*`, no mention of a bare @name, and
 * no link or preview.
 */
const plain = (text: string): PlatformBody => ({
  text: entities(text),
  mrkdwn: false,
  parse: 'none',
  link_names: false,
  unfurl_links: false,
  unfurl_media: false,
});

/**
 * Returns a message. If it has styles, they are in blocks, where the text is not read as markup.
 */
const shown = (piece: Marked): PlatformBody => {
  const { text, marks } = piece;
  return marks.length === 0 ? plain(text) : { ...plain(text), blocks: [richOf(piece)] };
};

const richOf = (piece: Marked) => ({
  type: 'rich_text',
  // Slack refuses an element without text.
  elements: blocksOf(piece)
    .filter(({ text }) => text !== '')
    .map(({ style, text }) => ({
      type: style === 'code' ? 'rich_text_preformatted' : 'rich_text_section',
      elements: [{ type: 'text', text, ...(style === 'title' && { style: { bold: true } }) }],
    })),
});

const words = (text: string) => ({ type: 'plain_text', text, emoji: false });

/** The confirmation that prevents an approval by accident. */
const CONFIRM = {
  title: words('Approve this call?'),
  text: words('It runs exactly as it is shown.'),
  confirm: words('Approve'),
  deny: words('Back'),
};

const confirmScope = (scope: ButtonScope) => ({
  ...CONFIRM,
  text: words(`It runs as it is shown, and later calls like it do not ask: ${SCOPE_TEXTS[scope]}.`),
});

const asking = (text: string, { approvalId, digest, grantScopes = [] }: PlatformQuestion) => {
  const value = `${approvalId}:${digest}`;
  const button = (action_id: string, label: string, more: object) => ({
    type: 'button',
    action_id,
    value,
    text: words(label),
    ...more,
  });
  return {
    ...plain(text),
    blocks: [
      { type: 'section', text: words(entities(text)) },
      {
        type: 'actions',
        elements: [
          button('approve', 'Approve', { style: 'primary', confirm: CONFIRM }),
          button('deny', 'Deny', { style: 'danger' }),
          ...grantScopes.map((scope) =>
            button(`approve_${scope}`, SCOPE_LABELS[scope], { confirm: confirmScope(scope) }),
          ),
        ],
      },
    ],
  };
};

/**
 * Calls a method. The reply counts as one if Slack says ok; its refusals come with status 200
 * and an error code.
 */
const call = (reach: PlatformReach, method: string, body: object) =>
  callPlatform(reach, {
    url: `${reach.settings.baseUrl}/${method}`,
    headers: { authorization: `Bearer ${reach.settings.secrets.botToken ?? ''}` },
    body,
    refusalIn,
  });

const refusalIn: RefusalIn = (reply) => {
  const refusal = platformRefusal(reply);
  if (refusal || reply.body.ok === true) return refusal;
  const error = asText(reply.body.error) || 'no answer that can be read';
  const { status, excerpt } = reply;
  return { verdict: verdictOf(error), error: `Slack says ${error}`, status, excerpt };
};

const receiptIn = ({ body }: PlatformCallReply): string =>
  `${asText(body.channel)}:${asText(body.ts)}`;

/**
 * Returns the verdict on an error. For some errors Slack says that the call may have succeeded in
 * part.
 */
const verdictOf = (error: string): 'retry' | 'unknown' | 'failed' => {
  if (['internal_error', 'fatal_error', 'no answer that can be read'].includes(error)) {
    return 'unknown';
  }
  return ['ratelimited', 'rate_limited', 'service_unavailable', 'request_timeout'].includes(error)
    ? 'retry'
    : 'failed';
};
