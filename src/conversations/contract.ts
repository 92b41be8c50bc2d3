import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  anyText,
  id,
  list,
  nullable,
  object,
  oneOf,
  optional,
  queryWhole,
  record,
  type Static,
  text,
  time,
  whole,
} from '../kernel/contract/schema.js';

const count = () => whole(0, Number.MAX_SAFE_INTEGER);

export const Session = object('Session', {
  id: id('session'),
  title: anyText(200),
  channel: text(40),
  agentIds: list(id('agent'), 100_000),
  messageCount: count(),
  createdAt: time(),
  updatedAt: time(),
});
export type Session = Static<typeof Session>;

const MessageReply = object('Message', {
  id: id('message'),
  seq: count(),
  role: oneOf('MessageRole', 'user', 'assistant', 'tool', 'system'),
  content: anyText(10_000_000),
  toolCalls: optional(list(record('ToolCall'), 1000)),
  agentId: nullable(id('agent')),
  createdAt: time(),
});
export type MessageReply = Static<typeof MessageReply>;

export const sessions = contract({
  list: {
    method: 'GET',
    path: '/api/sessions',
    summary: 'List your sessions',
    query: pageQuery('SessionQuery', { channel: optional(text(40)) }),
    reply: pageOf('sessions', Session),
  },
  get: { method: 'GET', path: '/api/sessions/{id}', summary: 'Show a session', reply: Session },
  messages: {
    method: 'GET',
    path: '/api/sessions/{id}/messages',
    summary: 'Messages of a session, oldest first',
    query: object('MessageQuery', {
      limit: optional(queryWhole(1, 200)),
      cursor: optional(text(20).pattern(/^\d+$/, 'nextCursor of the page before')),
    }),
    reply: object('MessagePage', {
      messages: list(MessageReply, 200),
      nextCursor: nullable(text(20)),
    }),
  },
});
