import { type Dialect, type ModelOutput, send, wordsOf } from './wire.js';

/** Anthropic Messages API: named events; each block is opened, filled and closed. */
export const anthropic: Dialect = {
  provider: 'anthropic',
  path: '/v1',
  contentType: 'text/event-stream',
  says: (said) => (response, request) => {
    if (request.stream !== true) return send(response, 200, message(said));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events(said).join(''));
  },
  opening: (text) => [start({ input: 10, output: 1 }), blockOf(0, TEXT), textOf(0, text)].join(''),
  piece: (text) => textOf(0, text),
};

const TEXT = { type: 'text', text: '' };
const BASE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake-1' };

const event = (type: string, more: Record<string, unknown> = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

const start = ({ input, output }: { input: number; output: number }): string =>
  event('message_start', {
    message: {
      ...BASE,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: input, output_tokens: output },
    },
  });
const blockOf = (index: number, block: object): string =>
  event('content_block_start', { index, content_block: block });
const textOf = (index: number, text: string): string =>
  event('content_block_delta', { index, delta: { type: 'text_delta', text } });
const inputOf = (index: number, json: string): string =>
  event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: json } });
const stop = (index: number): string => event('content_block_stop', { index });

const usageOf = ({ usage }: ModelOutput) =>
  usage ?? { input: usage === null ? 0 : 10, output: usage === null ? 0 : 5 };

const events = (said: ModelOutput): string[] => {
  const usage = usageOf(said);
  const text = said.text === undefined ? [] : [blockOf(0, TEXT), ...words(said), stop(0)];
  const calls = (said.toolCalls ?? []).flatMap(({ id, name, arguments: json }, at) => {
    const index = at + (said.text === undefined ? 0 : 1);
    const half = Math.ceil(json.length / 2);
    return [
      blockOf(index, { type: 'tool_use', id, name, input: {} }),
      inputOf(index, json.slice(0, half)),
      inputOf(index, json.slice(half)),
      stop(index),
    ];
  });
  return [
    start({ input: usage.input, output: 1 }),
    event('ping'),
    ...text,
    ...calls,
    event('message_delta', {
      delta: { stop_reason: finishOf(said), stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    event('message_stop'),
  ];
};

const words = (said: ModelOutput): string[] => wordsOf(said.text).map((word) => textOf(0, word));

const message = (said: ModelOutput) => {
  const usage = usageOf(said);
  const calls = (said.toolCalls ?? []).map(({ id, name, arguments: json }) => ({
    ...{ type: 'tool_use', id, name },
    input: JSON.parse(json || '{}'),
  }));
  const text = said.text === undefined ? [] : [{ ...TEXT, text: said.text }];
  return {
    ...BASE,
    content: [...text, ...calls],
    stop_reason: finishOf(said),
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  };
};

const finishOf = (said: ModelOutput): string =>
  said.finish ?? (said.toolCalls ? 'tool_use' : 'end_turn');
