import { type Dialect, type ModelOutput, send, wordsOf } from './wire.js';

/** Ollama chat: one JSON object per line, the last one with `done`. */
export const ollama: Dialect = {
  provider: 'ollama',
  path: '',
  contentType: 'application/x-ndjson',
  says: (said) => (response, request) => {
    if (request.stream !== true) return send(response, 200, last(said, said.text ?? ''));
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const texts = wordsOf(said.text).map((text) => line(chunk(text)));
    response.end([...texts, line(last(said, ''))].join(''));
  },
  opening: (text) => line(chunk(text)),
  piece: (text) => line(chunk(text)),
};

const line = (reply: object): string => `${JSON.stringify(reply)}\n`;

const BASE = { model: 'fake-1', created_at: '2026-01-01T00:00:00.000Z' };

const chunk = (content: string) => ({
  ...BASE,
  message: { role: 'assistant', content },
  done: false,
});

const last = (said: ModelOutput, content: string) => ({
  ...BASE,
  message: {
    role: 'assistant',
    content,
    ...(said.toolCalls && {
      tool_calls: said.toolCalls.map(({ id, name, arguments: json }) => ({
        id,
        function: { name, arguments: JSON.parse(json || '{}') },
      })),
    }),
  },
  done: true,
  done_reason: said.finish ?? 'stop',
  ...(said.usage !== null && {
    prompt_eval_count: said.usage?.input ?? 10,
    eval_count: said.usage?.output ?? 5,
  }),
});
