import { agentStatusSchema } from '../../kernel/contract/agentaction.js';
import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const ChatAnswer = s.object('ChatAnswer', {
  sessionId: s.id('session'),
  agentId: s.id('agent'),
  message: s
    .nullable(s.anyText(10_000_000))
    .description('Reply of the agent. `null` unless `status` is `completed`.'),
  note: s
    .nullable(s.anyText(1000))
    .description(
      'Note about the reply, for example that it was cut off or that another model answered. `null` if there is none.',
    ),
  status: agentStatusSchema('ChatStatus'),
  error: s.nullable(s.anyText(100_000)).description('Error message. `null` without an error'),
});
export type ChatAnswer = s.Static<typeof ChatAnswer>;

export const NewChatMessage = s.object('NewChatMessage', {
  message: s.text(100_000),
  sessionId: s.optional(
    s
      .text(80)
      .description('ID of the conversation to continue. If omitted, a new conversation starts.'),
  ),
  model: s.optional(
    s
      .text(200)
      .description(
        'Model of the agent. Defaults to the model of the expert, then to the model for the topic, then to the previous model of the conversation, then to the default model',
      ),
  ),
  expertId: s.optional(s.text(80).description('ID of the expert that the agent acts as')),
  topic: s.optional(
    s
      .text(100)
      .description('Topic that selects the model. The model routing assigns models to topics'),
  ),
});

const wait = () =>
  s.optional(
    s
      .queryWhole(0, 120)
      .description('Maximum time to wait for the reply, in seconds. Defaults to 60.'),
  );

export const chat = contract({
  send: endpoint.post('/api/chat', {
    shared: 'member',
    sharedBy: 'sessionId',
    summary: 'Send a chat message',
    query: s.object('ChatQuery', { wait: wait() }),
    example: { message: 'What came in today?' },
    body: NewChatMessage,
    reply: ChatAnswer,
    otherReplies: { 202: ChatAnswer },
    streams: true,
  }),
  get: endpoint.get('/api/chat/{agentId}', {
    shared: 'member',
    summary: 'Get the reply to a chat message',
    query: s.object('ChatAnswerQuery', {
      wait: wait(),
      after: s.optional(
        s
          .queryWhole(0, Number.MAX_SAFE_INTEGER)
          .description(
            'Sequence number of the last event received. Only for streams; same as `Last-Event-ID`.',
          ),
      ),
    }),
    reply: ChatAnswer,
    otherReplies: { 202: ChatAnswer },
    streams: true,
  }),
});
