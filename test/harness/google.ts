import { type Dialect, type ModelOutput, send, wordsOf } from './wire.js';

/** Gemini generateContent: a stream of replies with the next parts. */
export const google: Dialect = {
  provider: 'google',
  path: '/v1beta',
  contentType: 'text/event-stream',
  says: (said) => (response) => {
    const isStreamed = response.req.url?.includes(':streamGenerateContent');
    if (!isStreamed) return send(response, 200, chunk(partsOf(said), said));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const texts = wordsOf(said.text).map((text) => frame(chunk([{ text }])));
    response.end([...texts, frame(chunk(callsOf(said), said))].join(''));
  },
  opening: (text) => frame(chunk([{ text }])),
  piece: (text) => frame(chunk([{ text }])),
};

const frame = (reply: object): string => `data: ${JSON.stringify(reply)}\r\n\r\n`;

/** With `said` it is the last one. */
const chunk = (parts: object[], said?: ModelOutput) => ({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts },
      ...(said && { finishReason: said.finish ?? 'STOP' }),
    },
  ],
  ...(said && said.usage !== null && { usageMetadata: usageOf(said) }),
  modelVersion: 'fake-1',
  responseId: 'response-1',
});

const usageOf = ({ usage }: ModelOutput) => {
  const { input, output } = usage ?? { input: 10, output: 5 };
  return {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  };
};

const callsOf = (said: ModelOutput): object[] =>
  (said.toolCalls ?? []).map(({ id, name, arguments: json }) => ({
    functionCall: { id, name, args: JSON.parse(json || '{}') },
  }));

const partsOf = (said: ModelOutput): object[] => [
  ...(said.text === undefined ? [] : [{ text: said.text }]),
  ...callsOf(said),
];
