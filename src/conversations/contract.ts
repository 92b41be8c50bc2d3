import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);

export const Session = s.object('Session', {
  id: s.id('session'),
  orgId: s.orgId(),
  title: s.anyText(200),
  channel: s
    .text(40)
    .description('Origin of the conversation, such as `chat`, `api`, `hook` or `slack`'),
  agentIds: s.list(s.id('agent'), 100_000),
  messageCount: count(),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type Session = s.Static<typeof Session>;

export const MessageReply = s.object('Message', {
  id: s.id('message'),
  seq: count().description('Position in the conversation, from 1'),
  role: s.oneOf('MessageRole', 'user', 'assistant', 'tool', 'system'),
  content: s.anyText(10_000_000),
  toolCalls: s.optional(s.list(s.record('ToolCall'), 1000)),
  agentId: s
    .nullable(s.id('agent'))
    .description('ID of the agent that wrote or received the message. `null` without an agent'),
  createdAt: s.time(),
});
export type MessageReply = s.Static<typeof MessageReply>;

export const sessions = contract({
  list: endpoint.get('/api/sessions', {
    shared: 'member',
    summary: 'List conversations',
    query: pageQuery('SessionQuery', { channel: s.optional(s.text(40)) }),
    reply: createPageSchema('sessions', Session),
  }),
  get: endpoint.get('/api/sessions/{id}', {
    shared: 'member',
    summary: 'Get a conversation',
    reply: Session,
  }),
  messages: endpoint.get('/api/sessions/{id}/messages', {
    shared: 'member',
    summary: 'List messages of a conversation, oldest first',
    query: s.object('MessageQuery', {
      limit: s.optional(
        s.queryWhole(1, 200).description('Maximum number of messages to return. Defaults to 50'),
      ),
      cursor: s.optional(
        s
          .text(20)
          .pattern(/^\d+$/, 'nextCursor')
          .description(
            'Value of `nextCursor` in the previous page. Omit `cursor` for the first page',
          ),
      ),
    }),
    reply: s.object('MessagePage', {
      messages: s.list(MessageReply, 200),
      nextCursor: s
        .nullable(s.text(20))
        .description('Value of `cursor` for the next page. `null` on the last page'),
    }),
  }),
});
