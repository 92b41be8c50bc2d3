import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { send } from './wire.js';

/** Protocol of an embedding server. */
type EmbedDialect = 'openai-compatible' | 'ollama';

interface EmbedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown> & { model: string; input: string[] };
}

/** The server answers, hangs, answers 500, or does so only for texts with a certain word. */
type EmbedState =
  | 'works'
  | 'hangs'
  | 'fails'
  | { refuses?: string; failsAt?: string; hangsAt?: string };

/** Words with the same meaning. */
const MEANINGS: Record<string, string> = {
  automobile: 'car',
  vehicle: 'car',
  spaghetti: 'pasta',
  noodles: 'pasta',
  doctor: 'physician',
};

/** Vector with a one for each meaning in the text. */
export const vectorOfWords = (text: string, dimensions: number): number[] => {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    let place = 7;
    for (const letter of MEANINGS[word] ?? word) {
      place = (place * 31 + letter.charCodeAt(0)) % 1_000_003;
    }
    vector[place % dimensions] = (vector[place % dimensions] ?? 0) + 1;
  }
  return vector;
};

/** Loopback server that creates vectors like OpenAI or Ollama. */
export const startEmbedder = async (dialect: EmbedDialect, dimensions = 256) => {
  const asked: EmbedRequest[] = [];
  const path = dialect === 'ollama' ? '/api/embed' : '/v1/embeddings';
  let state: EmbedState = 'works';
  let delayMs = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await json(request)) as EmbedRequest['body'];
    asked.push({ path: request.url ?? '', headers: request.headers, body });
    if (request.url !== path) return send(response, 404, { error: 'not found' });
    const has = (word: string | undefined): boolean =>
      word !== undefined && body.input.some((text) => text.includes(word));
    const at = typeof state === 'string' ? {} : state;
    if (state === 'hangs' || has(at.hangsAt)) return;
    if (state === 'fails' || has(at.failsAt)) {
      return send(response, 500, { error: { message: 'out of order' } });
    }
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (has(at.refuses)) {
      return send(response, 400, { error: { message: 'the input is not accepted' } });
    }
    const vectors = body.input.map((text) => vectorOfWords(text, dimensions));
    const tokens = body.input.join(' ').split(/\s+/).length;
    send(response, 200, replies[dialect](body.model, vectors, tokens));
  };

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    provider: dialect,
    baseUrl: `http://127.0.0.1:${port}${dialect === 'ollama' ? '' : '/v1'}`,
    asked,
    /** All texts to embed. */
    texts: (): string[] => asked.flatMap(({ body }) => body.input),
    become: (next: EmbedState, afterMs = 0): void => {
      state = next;
      delayMs = afterMs;
      if (next !== 'hangs') server.closeAllConnections();
    },
    stop: async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

export type FakeEmbedder = Awaited<ReturnType<typeof startEmbedder>>;

const replies = {
  'openai-compatible': (model: string, vectors: number[][], tokens: number) => ({
    object: 'list',
    // The order is given by `index`, not by position.
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse(),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
  ollama: (model: string, vectors: number[][], tokens: number) => ({
    model,
    embeddings: vectors,
    total_duration: 14_143_917,
    load_duration: 1_019_500,
    prompt_eval_count: tokens,
  }),
};
