import { contract } from '../../kernel/contract/endpoint.js';
import {
  anyText,
  id,
  nullable,
  object,
  oneOf,
  optional,
  queryWhole,
  type Static,
  text,
} from '../../kernel/contract/schema.js';

const ChatAnswer = object('ChatAnswer', {
  sessionId: id('session'),
  agentId: id('agent'),
  message: nullable(anyText(10_000_000)).description('The answer; null while there is none'),
  status: oneOf(
    'ChatStatus',
    'queued',
    'running',
    'waiting_approval',
    'paused',
    'completed',
    'failed',
    'stopped',
  ),
  error: nullable(anyText(100_000)),
});
export type ChatAnswer = Static<typeof ChatAnswer>;

export const NewChatMessage = object('NewChatMessage', {
  message: text(100_000),
  sessionId: optional(text(80).description('The conversation to go on with; a new one without')),
  model: optional(text(200)),
  expertId: optional(text(80)),
  topic: optional(text(100)),
});

const wait = () =>
  optional(queryWhole(0, 120).description('Seconds to wait for the answer, 60 unless given'));

export const chat = contract({
  send: {
    method: 'POST',
    path: '/api/chat',
    summary: 'Say something; 200 with the answer, 202 where it takes longer or waits for you',
    query: object('ChatQuery', { wait: wait() }),
    example: { message: 'What came in today?' },
    body: NewChatMessage,
    reply: ChatAnswer,
    answers: { 202: ChatAnswer },
    streams: true,
  },
  get: {
    method: 'GET',
    path: '/api/chat/{agentId}',
    summary: 'The answer that a message got, once it is there; as a stream, what comes of it',
    query: object('ChatAnswerQuery', {
      wait: wait(),
      after: optional(
        queryWhole(0, Number.MAX_SAFE_INTEGER).description(
          'For a stream: the number of the last event that you have, as in `Last-Event-ID`',
        ),
      ),
    }),
    reply: ChatAnswer,
    answers: { 202: ChatAnswer },
    streams: true,
  },
});
