import { type ChatRequest, type Reply, refuses, streams } from '../harness/openai.js';

/** One chunk of a stream, with nothing that is not needed. */
const chunkOf = (delta: object, finish: string | null = null): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });

/** The deltas of a reply, as a server streams them. */
export const streamed = (...deltas: object[]): Reply =>
  streams(...deltas.map((delta) => chunkOf(delta)), chunkOf({}, 'stop'), '[DONE]');

/** The pieces of a text, as a server streams them. */
export const pieces = (...texts: string[]): Reply =>
  streamed(...texts.map((content) => ({ content })));

/** A call of a tool in one delta. `more`: other fields of the delta. */
export const calling = (name: string, args: unknown = '{}', more: object = {}): Reply =>
  streamed({
    ...more,
    tool_calls: [{ index: 0, id: 'k1', type: 'function', function: { name, arguments: args } }],
  });

/** Lines of a stream as they are, without an end of their own. */
export const unfinished = (...texts: string[]): Reply =>
  streams(...texts.map((content) => chunkOf({ content })), '[DONE]');

/** A server that answers every request in the same way. */
export const always = (answer: (request: ChatRequest) => Reply): Reply[] =>
  Array.from(
    { length: 50 },
    (): Reply => (response, request) => answer(request)(response, request),
  );

/** A server that refuses some requests, each with its own text. */
export const refusing = (
  refusal: (request: ChatRequest) => string | null,
  answer: (request: ChatRequest) => Reply,
  status = 400,
): Reply[] =>
  always((request) => {
    const message = refusal(request);
    return message === null ? answer(request) : refuses(status, { message });
  });

export const rolesOf = ({ messages }: ChatRequest): string =>
  messages.map(({ role }) => role).join(' ');

/** A chat template that takes user and assistant in turn, after at most one system message. */
export const alternating = (request: ChatRequest): string | null => {
  const roles = rolesOf(request).replace(/^system /, '');
  const isRight = !/user user|assistant assistant|system/.test(roles) && /(user|tool)$/.test(roles);
  return isRight ? null : `Conversation roles must alternate user/assistant: ${roles}`;
};

/** True if the newest message is the result of a tool. */
export const hasResult = ({ messages }: ChatRequest): boolean => messages.at(-1)?.role === 'tool';

/** Messages without the system message, each as its role and content. */
export const spoken = ({ messages }: ChatRequest): [unknown, unknown][] =>
  messages.filter(({ role }) => role !== 'system').map(({ role, content }) => [role, content]);
