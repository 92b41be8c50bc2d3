import { type ButtonScope, SCOPE_LABELS, SCOPE_TEXTS } from './buttonscopes.js';
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
import { splitIntoMessages } from './markdown/fit.js';
import { isUnstyled, type TextLine } from './markdown/lines.js';
import { messageLines } from './markdown/message.js';
import { plainLine, writePlain } from './markdown/plain.js';
import { slackElements } from './markdown/slackblocks.js';
import type {
  Platform,
  PlatformBody,
  PlatformQuestion,
  PlatformReach,
  PlatformSent,
} from './platform.js';
import { COMMAND, isSlackSignature, parseSlack, threadIn, voiceFlag } from './slackinbound.js';

/** Recommended maximum per message; 3,000 for the text of a block. */
const MESSAGE = 4_000;
const BLOCK = 3_000;

/** Events API, slash commands and buttons come in; text is sent as direct messages of the bot. */
export const slack: Platform = {
  kind: 'slack',
  endpoint: 'teamchat',
  baseUrl: 'https://slack.com/api',
  fields: [
    {
      name: 'botToken',
      doc: 'OAuth & Permissions, Bot User OAuth Token: xoxb-…, with the scopes chat:write and files:read',
      isSecret: true,
      requiredFor: ['send'],
    },
    {
      name: 'signingSecret',
      doc: 'Basic Information, App Credentials, Signing Secret',
      isSecret: true,
      requiredFor: ['receive'],
    },
  ],
  setup: (receiver) => [
    'api.slack.com/apps: Create New App, from scratch, in your workspace',
    'OAuth & Permissions: add the bot scopes chat:write, im:history, app_mentions:read and files:read, then Install',
    `Event Subscriptions: on, Request URL ${receiver}, bot events message.im and app_mention`,
    `Interactivity & Shortcuts: on, Request URL ${receiver}`,
    `Slash Commands: create /link and /adjutant, Request URL ${receiver}`,
    'App Home: allow users to send messages from the messages tab',
    'Send /link to the bot and redeem the code: adjutant channels link CODE',
  ],

  matchesHeaders: (headers) => headers['x-slack-signature'] !== undefined,
  verify: isSlackSignature,
  parse: ({ body }) => [parseSlack(body)],
  replyAt: (reach, { kind, replyTo, sender }, part) => {
    const place = kind === 'message' ? threadIn(replyTo) : null;
    if (!place) return null;
    const user = userIn(sender.id);
    // A direct channel has no ephemeral messages.
    const isDirect = place.channel.startsWith('D');
    const method = isDirect ? 'chat.postMessage' : 'chat.postEphemeral';
    return call(reach, method, { ...place, ...(!isDirect && { user }), ...part }).then((reply) =>
      toPlatformSent(reply, receiptIn),
    );
  },
  reply: ({ replyTo }, text) =>
    replyTo === COMMAND ? { response_type: 'ephemeral', ...plain(text) } : null,

  render: (message) => {
    const { question } = message;
    const limits = { most: question ? BLOCK : MESSAGE, sizeOf: slackLineSize };
    const parts = splitIntoMessages(messageLines(message), limits);
    if (!question) return parts.map(slackText);
    const last = parts.pop() ?? [];
    return [...parts.map((lines) => plain(writePlain(lines))), asking(writePlain(last), question)];
  },
  send: async (reach, to, part) => {
    const channel = userIn(to);
    const post = async (body: PlatformBody): Promise<PlatformSent> =>
      toPlatformSent(await call(reach, 'chat.postMessage', { channel, ...body }), receiptIn);
    const sent = await post(part);
    const { blocks, ...text } = part;
    return isFormatRefused(sent) && isFormat(blocks) ? post(text) : sent;
  },
  conclude: async (reach, { replyTo }, text) => {
    const [channel = '', ts = ''] = (replyTo ?? '').split(':');
    const message = { channel, ts, ...plain(text), blocks: [] };
    return toPlatformSent(await call(reach, 'chat.update', message), receiptIn);
  },
  files: {
    hosts: ['files.slack.com'],
    find: async (reach, { name, ref }) => {
      const headers = bearer(reach);
      if (URL.canParse(ref)) return { verdict: 'found', url: ref, headers, name };
      const url = `${reach.settings.baseUrl}/files.info?file=${encodeURIComponent(ref)}`;
      const reply = await callPlatform(reach, {
        method: 'GET',
        url,
        headers,
        refusalIn: slackRefusal,
      });
      if (reply.verdict !== 'replied') return reply;
      const file = asObject(reply.body.file);
      const found = { url: asText(file.url_private_download), name: asText(file.name) || name };
      return { verdict: 'found', headers, ...found, ...voiceFlag(file) };
    },
  },
  check: async (reach) =>
    toPlatformCheck(
      await call(reach, 'auth.test', {}),
      ({ body }) => `${asText(body.user)} in ${asText(body.team)}`,
    ),
};

/** A sender id begins with the team. */
const userIn = (id: string): string => id.slice(id.indexOf(':') + 1);

/** Characters of Slack's tags, mentions and links. */
const entities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const slackLineSize = (line: TextLine): number => entities(plainLine(line)).length + 1;

/** No markup, mentions, links or previews. */
const plain = (text: string): PlatformBody => ({
  text: entities(text),
  mrkdwn: false,
  parse: 'none',
  link_names: false,
  unfurl_links: false,
  unfurl_media: false,
});

/** Formatted text is sent as a block, whose text is not markup. */
export const slackText = (lines: TextLine[]): PlatformBody => {
  const text = plain(writePlain(lines));
  if (lines.every(isUnstyled)) return text;
  return { ...text, blocks: [{ type: 'rich_text', elements: slackElements(lines) }] };
};

/** The text alone has the same content, so it can be sent instead. */
const isFormatRefused = (sent: PlatformSent): boolean =>
  sent.verdict === 'failed' &&
  /invalid_blocks|msg_blocks_too_long|invalid_attachments/.test(sent.error);

const isFormat = (blocks: unknown): boolean => Array.isArray(blocks) && blocks.length === 1;

const words = (text: string) => ({ type: 'plain_text', text, emoji: false });

/** Prevents accidental approvals. */
const CONFIRM = {
  title: words('Approve this call?'),
  text: words('It runs exactly as shown.'),
  confirm: words('Approve'),
  deny: words('Back'),
};

const confirmScope = (scope: ButtonScope) => ({
  ...CONFIRM,
  text: words(`It runs as shown. Later calls do not require approval: ${SCOPE_TEXTS[scope]}.`),
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

/** Slack reports errors with status 200 and an error code. */
const call = (reach: PlatformReach, method: string, body: object) =>
  callPlatform(reach, {
    url: `${reach.settings.baseUrl}/${method}`,
    headers: bearer(reach),
    body,
    refusalIn: slackRefusal,
  });

const bearer = ({ settings }: PlatformReach) => ({
  authorization: `Bearer ${settings.secrets.botToken ?? ''}`,
});

export const slackRefusal: RefusalIn = (reply) => {
  const refusal = platformRefusal(reply);
  if (refusal || reply.body.ok === true) return refusal;
  const error = asText(reply.body.error) || 'unreadable response';
  const { status, excerpt } = reply;
  return { verdict: classifyError(error), error: `Slack returned ${error}`, status, excerpt };
};

const receiptIn = ({ body }: PlatformCallReply): string =>
  `${asText(body.channel)}:${asText(body.ts)}`;

/** Some errors mean that the call may have partially succeeded. */
const classifyError = (error: string): 'retry' | 'unknown' | 'failed' => {
  if (['internal_error', 'fatal_error', 'unreadable response'].includes(error)) {
    return 'unknown';
  }
  return ['ratelimited', 'rate_limited', 'service_unavailable', 'request_timeout'].includes(error)
    ? 'retry'
    : 'failed';
};
