import { createHmac } from 'node:crypto';
import { isSame } from '../../kernel/signature.js';
import { callPlatform, platformRefusal, type RefusalIn, toPlatformSent } from './call.js';
import { splitIntoMessages } from './markdown/fit.js';
import type { TextLine } from './markdown/lines.js';
import { messageLines } from './markdown/message.js';
import { teamsBlock, teamsSize } from './markdown/teamscard.js';
import type { Platform, PlatformBody } from './platform.js';
import { isRecent, parseTeams } from './teamsinbound.js';

const HMAC = /^HMAC ([A-Za-z0-9+/]{43}=)$/;
const TOKEN = /^[A-Za-z0-9+/]{16,}={0,2}$/;
/**
 * Teams allows 28 KB per message in UTF-16 (Microsoft, Create incoming webhooks), including the
 * data around the text.
 */
const MAX_CARD_LENGTH = 28 * 1024 - 2_048;

/**
 * People mention an outgoing webhook in a channel; the reply to its request is the answer. Later
 * messages go to the URL of a workflow.
 */
export const teams: Platform = {
  kind: 'teams',
  endpoint: 'teamchat',
  // Unused: the workflow URL is complete.
  baseUrl: 'https://teams.microsoft.com',
  fields: [
    {
      name: 'securityToken',
      doc: 'Security token in base64, shown once when the outgoing webhook is created. Teams signs each request with this token',
      isSecret: true,
      form: { pattern: TOKEN, fault: 'must be base64, as shown by Teams' },
      requiredFor: ['receive'],
    },
    {
      name: 'workflowUrl',
      doc: 'Workflows, "When a Teams webhook request is received": its URL. The signature in it is a secret',
      isSecret: true,
      form: { pattern: /^https?:\/\/\S+$/, fault: 'must be a URL' },
      requiredFor: ['send'],
    },
  ],
  setup: (receiver) => [
    'In Teams: your team, Manage team, Apps, Create an outgoing webhook, with the name Adjutant',
    `Its callback URL: ${receiver}`,
    'Set securityToken to the security token that Teams shows once',
    'In Workflows: a flow from "When a Teams webhook request is received" to "Post card in a chat or channel"; set its URL as workflowUrl',
    "To reach each person individually, let the flow post as the flow bot to the recipient triggerBody()?['recipient']. Otherwise all members of its channel can read the messages",
    'The whole team can read the messages. Create a code first with adjutant channels link, then write @Adjutant /link CODE',
  ],

  matchesHeaders: ({ authorization = '' }) => authorization.startsWith('HMAC '),
  verify: ({ headers, body }, { secrets }, now) => {
    const mac = HMAC.exec(headers.authorization ?? '')?.[1];
    const token = secrets.securityToken ?? '';
    if (mac === undefined || !TOKEN.test(token)) return false;
    const wanted = createHmac('sha256', Buffer.from(token, 'base64')).update(body).digest();
    return isSame(Buffer.from(mac, 'base64'), wanted) && isRecent(body, now);
  },
  parse: ({ body }) => [parseTeams(body)],
  reply: (_event, text) => buildAdaptiveCard(messageLines({ title: null, text })),
  // Teams reports a failure without a reply within five seconds.
  pendingReply: () => buildAdaptiveCard(messageLines({ title: null, text: 'One moment.' })),

  render: (message) =>
    splitIntoMessages(messageLines(message), { most: MAX_CARD_LENGTH, sizeOf: teamsSize }).map(
      buildAdaptiveCard,
    ),
  send: async (reach, to, part) => {
    const recipient = to.slice(to.indexOf(':') + 1);
    const url = reach.settings.secrets.workflowUrl ?? '';
    const reply = await callPlatform(reach, { url, body: { ...part, recipient }, refusalIn });
    return toPlatformSent(reply, ({ headers }) => headers['x-ms-workflow-run-id'] ?? null);
  },
  check: async ({ settings }) =>
    URL.canParse(settings.secrets.workflowUrl ?? '')
      ? { ok: true, account: 'a Teams workflow. Only a test message can show whether it works' }
      : { ok: false, error: 'The workflowUrl is not a URL' },
};

const refusalIn: RefusalIn = (reply) => {
  // Old connectors reply with status 200 and put the status in the text.
  const status = /returned HTTP error (\d{3})/.exec(reply.excerpt)?.[1];
  return platformRefusal(status ? { ...reply, status: Number(status) } : reply);
};

/** One block per line, since a run cannot contain line breaks. */
const buildAdaptiveCard = (lines: TextLine[]): PlatformBody => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        type: 'AdaptiveCard',
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        version: '1.4',
        body: lines.map(teamsBlock),
      },
    },
  ],
});
