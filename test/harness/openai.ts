import type { ServerResponse } from 'node:http';
import {
  type Dialect,
  type ModelOutput,
  send,
  startWire,
  type WireReply,
  wordsOf,
} from './wire.js';

/** Parts of a chat completions request that tests check. */
export interface ChatRequest {
  model: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  max_tokens?: number;
  messages: Record<string, unknown>[];
  tools?: {
    type: string;
    function: { name: string; description: string; parameters: Record<string, unknown> };
  }[];
  tool_choice?: string;
}

/** Answers one request. */
export type Reply = WireReply<ChatRequest>;

/** Answer of a model, as events or JSON as requested. */
export const says =
  (said: ModelOutput): Reply =>
  (response, request) => {
    if (!request.stream) return send(response, 200, completion(said));
    const frames = [...deltas(said), ...(request.stream_options?.include_usage ? usage(said) : [])];
    streams(...frames.map((frame) => JSON.stringify(frame)), '[DONE]')(response, request);
  };

/** An error body in OpenAI's form. */
export const refuses =
  (status: number, error: Record<string, unknown> = {}, headers = {}): WireReply<unknown> =>
  (response) =>
    send(response, status, { error: { message: 'refused', type: 'error', ...error } }, headers);

/** Sends the given `data:` lines, then the end. */
export const streams =
  (...frames: string[]): Reply =>
  (response) => {
    open(response, frames);
    response.end();
  };

/** Answer written in pieces, controlled by the test. */
export const dictated = () => {
  let begin = (_: ServerResponse): void => undefined;
  const begun = new Promise<ServerResponse>((resolve) => {
    begin = resolve;
  });
  const write = async (delta: object, finish: string | null = null): Promise<void> => {
    const frame = `data: ${JSON.stringify(chunk({ ...delta }, finish))}\n\n`;
    (await begun).write(frame);
  };
  const reply: Reply = (response) => {
    open(response, [JSON.stringify(chunk({ role: 'assistant', content: '' }))]);
    begin(response);
  };
  return {
    reply,
    say: (content: string): Promise<void> => write({ content }),
    end: async (finish = 'stop'): Promise<void> => {
      await write({}, finish);
      (await begun).end('data: [DONE]\n\n');
    },
    breakOff: async (): Promise<void> => {
      (await begun).destroy();
    },
  };
};

/** Some text, then silence on an open connection. */
export const stalls =
  (text: string): Reply =>
  (response) =>
    open(response, [JSON.stringify(chunk({ content: text }))]);

/** Some text, then a cut connection. */
export const breaks =
  (text: string): Reply =>
  (response) => {
    const frame = `data: ${JSON.stringify(chunk({ content: text }))}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(frame, () => response.destroy());
  };

/** Never answers, not even with headers. */
export const hangs: Reply = () => {};

/** Loopback server for OpenAI chat completions. */
export const startOpenai = (...script: Reply[]) => startWire<ChatRequest>('/v1', script);

export type Openai = Awaited<ReturnType<typeof startOpenai>>;

const open = (response: ServerResponse, frames: string[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of frames) response.write(`data: ${frame}\n\n`);
};

const BASE = { id: 'chatcmpl-1', created: 1_767_225_600, model: 'fake-1' };

const completion = (said: ModelOutput) => ({
  ...BASE,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: said.text ?? null,
        tool_calls: said.toolCalls?.map(wireCall),
      },
      finish_reason: finishOf(said),
    },
  ],
  ...(said.usage === null ? {} : { usage: usageOf(said) }),
});

/** Text word by word, arguments of each call in two halves, like the real service. */
const deltas = (said: ModelOutput) => [
  chunk({ role: 'assistant', content: '' }),
  ...wordsOf(said.text).map((word) => chunk({ content: word })),
  ...(said.toolCalls ?? []).flatMap((call, index) => {
    const half = Math.ceil(call.arguments.length / 2);
    const first = wireCall({ ...call, arguments: call.arguments.slice(0, half) });
    const second = { index, function: { arguments: call.arguments.slice(half) } };
    return [chunk({ tool_calls: [{ index, ...first }] }), chunk({ tool_calls: [second] })];
  }),
  chunk({}, finishOf(said)),
];

const chunk = (delta: Record<string, unknown>, finish: string | null = null) => ({
  ...BASE,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const usage = (said: ModelOutput) =>
  said.usage === null ? [] : [{ ...chunk({}), choices: [], usage: usageOf(said) }];

const usageOf = ({ usage }: ModelOutput) => {
  const { input, output } = usage ?? { input: 10, output: 5 };
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
};

const wireCall = (call: { id: string; name: string; arguments: string }) => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: call.arguments },
});

const finishOf = (said: ModelOutput): string =>
  said.finish ?? (said.toolCalls ? 'tool_calls' : 'stop');

const frameOf = (text: string): string => `data: ${JSON.stringify(chunk({ content: text }))}\n\n`;

const openai = (provider: 'openai' | 'openai-compatible'): Dialect => ({
  provider,
  path: '/v1',
  contentType: 'text/event-stream',
  says: (said) => (response, request) => {
    const { stream, stream_options: options } = request;
    const includesUsage = typeof options === 'object' && options !== null;
    const asked = { model: '', messages: [], stream: stream === true };
    says(said)(response, { ...asked, stream_options: { include_usage: includesUsage } });
  },
  opening: frameOf,
  piece: frameOf,
});

/** OpenAI, and compatible services. */
export const openaiDialects = [openai('openai'), openai('openai-compatible')];
