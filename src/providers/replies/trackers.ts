import { memberAt, textAt } from '../../kernel/jsonvalue.js';
import { asObject, asText, type PlatformCallReply, platformRefusal } from '../chat/call.js';
import { jiraSize, writeJira } from '../chat/markdown/jirawiki.js';
import type { PlatformBody } from '../chat/platform.js';
import { slackLineSize, slackRefusal, slackText } from '../chat/slack.js';
import { REPLY_MARK, type ReplyPlatform } from './platform.js';
import { formAt } from './read.js';
import { fitLines, forgeText } from './text.js';

const ISSUE_KEY = /^[A-Z][A-Z0-9_]{1,50}-[1-9]\d{0,17}$/;

/**
 * https://developer.atlassian.com/cloud/jira/platform/rest/v2/, at most 32,767 characters. The token
 * of Jira Cloud belongs to an e-mail address, and both are one credential: `<address>:<token>`.
 */
export const jira: ReplyPlatform = {
  name: 'Jira',
  service: null,
  apiPath: '/rest/api/2',
  headers: (token) => ({
    authorization: token.includes(':')
      ? `Basic ${Buffer.from(token).toString('base64')}`
      : `Bearer ${token}`,
  }),
  target: (body) => {
    const key = formAt(ISSUE_KEY, body, 'issue', 'key');
    return key === null ? null : { object: key, place: { key } };
  },
  comment: (body) => {
    const isPublic = memberAt(body, 'comment', 'jsdPublic') !== false;
    return {
      text: textAt(body, 'comment', 'body'),
      isBot: textAt(body, 'comment', 'author', 'accountType') === 'app',
      isInternal: !isPublic || memberAt(body, 'comment', 'visibility') != null,
    };
  },
  render: (markdown, ifCut) => {
    const lines = fitLines(markdown, ifCut, { most: 32_000, sizeOf: jiraSize });
    return { body: writeJira(lines) + REPLY_MARK };
  },
  create: ({ place: { key } }, body) => ({
    method: 'POST',
    path: `/issue/${key}/comment`,
    body,
  }),
  update: ({ place: { key } }, id, body) => ({
    method: 'PUT',
    path: `/issue/${key}/comment/${id}`,
    body,
  }),
  posted: ({ body }, { place: { key } }, server) => {
    const id = asText(body.id);
    return { id, url: id && `${server}/browse/${key}?focusedCommentId=${id}` };
  },
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const LINEAR_KEY = /^[A-Z][A-Z0-9]{0,20}-[1-9]\d{0,9}$/;
const COMMENT = 'comment { id url }';

/** https://linear.app/developers/graphql */
export const linear: ReplyPlatform = {
  name: 'Linear',
  service: 'https://api.linear.app',
  apiPath: '',
  // A personal key has no scheme, a token of OAuth has.
  headers: (token) => ({ authorization: token.startsWith('lin_api_') ? token : `Bearer ${token}` }),
  target: (body) => {
    const isIssue = textAt(body, 'type') === 'Issue';
    const id = isIssue ? formAt(UUID, body, 'data', 'id') : formAt(UUID, body, 'data', 'issueId');
    if (id === null) return null;
    const of = isIssue ? ['data', 'identifier'] : ['data', 'issue', 'identifier'];
    return { object: formAt(LINEAR_KEY, body, ...of) ?? id, place: { id } };
  },
  comment: (body) => {
    const text = textAt(body, 'type') === 'Comment' ? textAt(body, 'data', 'body') : null;
    return { text, isBot: memberAt(body, 'data', 'botActor') != null };
  },
  render: (markdown, ifCut) => ({ body: forgeText(markdown, ifCut, 50_000) }),
  create: ({ place: { id } }, { body }) =>
    graphql(
      `mutation($issueId: String!, $body: String!) { commentCreate(input: { issueId: $issueId, body: $body }) { success ${COMMENT} } }`,
      { issueId: id, body },
    ),
  update: (_, id, { body }) =>
    graphql(
      `mutation($id: String!, $body: String!) { commentUpdate(id: $id, input: { body: $body }) { success ${COMMENT} } }`,
      { id, body },
    ),
  posted: ({ body }) => {
    const { commentCreate, commentUpdate } = asObject(body.data);
    const comment = asObject(asObject(commentCreate ?? commentUpdate).comment);
    return { id: asText(comment.id), url: asText(comment.url) || null };
  },
  // Errors have status 200 or 400 and a code.
  refusalIn: (reply) => {
    const first = Array.isArray(reply.body.errors) ? asObject(reply.body.errors[0]) : null;
    if (first === null) return platformRefusal(reply);
    const { status, excerpt } = reply;
    const isLimited = textAt(first, 'extensions', 'code') === 'RATELIMITED';
    const error = `Linear returned ${asText(first.message).slice(0, 300) || 'an error'}`;
    return { verdict: isLimited ? 'retry' : 'failed', error, status, excerpt };
  },
};

const graphql = (query: string, variables: PlatformBody) => ({
  method: 'POST' as const,
  path: '/graphql',
  body: { query, variables },
});

/** Where an edit has the message itself. */
const slackMessage = (body: unknown): string[] | null =>
  textAt(body, 'event', 'subtype') === 'message_changed' ? ['event', 'message'] : null;

const CHANNEL = /^[CDG][A-Z0-9]{2,20}$/;
const TIMESTAMP = /^\d{6,12}\.\d{6}$/;

/** https://docs.slack.dev/reference/methods/chat.postMessage: replies in the thread of a message. */
export const slackThread: ReplyPlatform = {
  name: 'Slack',
  service: 'https://slack.com/api',
  apiPath: '/api',
  headers: (token) => ({ authorization: `Bearer ${token}` }),
  target: (body) => {
    // Reactions name their message as an item.
    const of = memberAt(body, 'event', 'item') === undefined ? ['event'] : ['event', 'item'];
    const channel = formAt(CHANNEL, body, ...of, 'channel');
    if (textAt(body, 'event', 'subtype') === 'message_deleted') return null;
    const at = slackMessage(body) ?? of;
    const ts = formAt(TIMESTAMP, body, ...at, 'thread_ts') ?? formAt(TIMESTAMP, body, ...at, 'ts');
    return channel === null || ts === null
      ? null
      : { object: `${channel}:${ts}`, place: { channel, ts } };
  },
  comment: (body) => {
    const at = slackMessage(body) ?? ['event'];
    return { text: textAt(body, ...at, 'text'), isBot: textAt(body, ...at, 'bot_id') !== null };
  },
  render: (markdown, ifCut) => {
    const { text, ...rest } = slackText(
      fitLines(markdown, ifCut, { most: 4_000, sizeOf: slackLineSize }),
    );
    return { ...rest, text: `${text}${REPLY_MARK}` };
  },
  create: ({ place: { channel, ts } }, text) => ({
    method: 'POST',
    path: '/chat.postMessage',
    body: { ...text, channel, thread_ts: ts },
  }),
  update: ({ place: { channel } }, id, text) => ({
    method: 'POST',
    path: '/chat.update',
    body: { ...text, channel, ts: id },
  }),
  posted: ({ body }: PlatformCallReply) => ({ id: asText(body.ts), url: null }),
  refusalIn: slackRefusal,
};
