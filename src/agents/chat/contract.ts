import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const ChatAnswer = s.object('ChatAnswer', {
  sessionId: s.id('session'),
  agentId: s.id('agent'),
  message: s.nullable(s.anyText(10_000_000)).description('The answer; null while there is none'),
  note: s
    .nullable(s.anyText(1000))
    .description("That the answer was cut off at the model's output limit; null if it was not"),
  status: s.oneOf(
    'ChatStatus',
    'queued',
    'running',
    'waiting_approval',
    'paused',
    'completed',
    'failed',
    'stopped',
  ),
  error: s.nullable(s.anyText(100_000)),
});
export type ChatAnswer = s.Static<typeof ChatAnswer>;

export const NewChatMessage = s.object('NewChatMessage', {
  message: s.text(100_000),
  sessionId: s.optional(
    s.text(80).description('The conversation to go on with; a new one without'),
  ),
  model: s.optional(s.text(200)),
  expertId: s.optional(s.text(80)),
  topic: s.optional(s.text(100)),
});

const wait = () =>
  s.optional(s.queryWhole(0, 120).description('Seconds to wait for the answer, 60 unless given'));

export const chat = contract({
  send: endpoint.post('/api/chat', {
    summary: 'Say something; 200 with the answer, 202 where it takes longer or waits for you',
    query: s.object('ChatQuery', { wait: wait() }),
    example: { message: 'What came in today?' },
    body: NewChatMessage,
    reply: ChatAnswer,
    otherReplies: { 202: ChatAnswer },
    streams: true,
  }),
  get: endpoint.get('/api/chat/{agentId}', {
    summary: 'The answer that a message got, once it is there; as a stream, what comes of it',
    query: s.object('ChatAnswerQuery', {
      wait: wait(),
      after: s.optional(
        s
          .queryWhole(0, Number.MAX_SAFE_INTEGER)
          .description(
            'For a stream: the number of the last event that you have, as in `Last-Event-ID`',
          ),
      ),
    }),
    reply: ChatAnswer,
    otherReplies: { 202: ChatAnswer },
    streams: true,
  }),
});
