import { isRecord, parsedJson } from '../../kernel/jsonvalue.js';
import { adapters, type ModelEndpoint, ollamaRoot, type Provider } from './adapters.js';
import { abortFailure, assertKeySendable, modelFailure } from './failure.js';
import { ModelFailure } from './model.js';
import { textTokens } from './tokens.js';
import { usageIn } from './usage.js';
import { createWireFetch } from './wire.js';

export interface EmbeddedTexts {
  vectors: number[][];
  inputTokens: number;
}

export interface EmbeddingModel {
  /** No retries. Every failure is a ModelFailure. */
  embed(texts: string[], signal: AbortSignal): Promise<EmbeddedTexts>;
}

/** `fetch` is that of the guarded client. */
export interface EmbeddingOptions extends ModelEndpoint {
  provider: Provider;
  /** A reply with another number of dimensions is rejected. */
  dimensions: number;
  apiKey?: string;
  keyOf?(): Promise<string | null>;
}

interface EmbeddingWire {
  path(baseUrl: string): string;
  body(options: EmbeddingOptions, texts: string[]): Record<string, unknown>;
  vectors(reply: unknown): unknown[];
}

/** Maximum bytes of a number in a reply, with its separator. */
const NUMBER_BYTES = 32;
/** Maximum bytes of a reply in addition to its numbers. */
const FRAME_BYTES = 64 * 1024;

/** Other models reject the field. */
const SHORTENS = /^text-embedding-3-/;

const openAiWire: EmbeddingWire = {
  path: (baseUrl) => `${baseUrl.replace(/\/+$/, '')}/embeddings`,
  body: ({ provider, modelId, dimensions }, input) => ({
    model: modelId,
    input,
    encoding_format: 'float',
    ...(provider === 'openai' && SHORTENS.test(modelId) && { dimensions }),
  }),
  vectors: (reply) => {
    const rows = isRecord(reply) && Array.isArray(reply.data) ? reply.data.filter(isRecord) : [];
    const places = rows.map(({ index }, at) => (typeof index === 'number' ? index : at));
    return rows
      .map(({ embedding }, at) => ({ embedding, place: places[at] ?? at }))
      .sort((a, b) => a.place - b.place)
      .map(({ embedding }) => embedding);
  },
};

const ollamaWire: EmbeddingWire = {
  path: (baseUrl) => `${ollamaRoot(baseUrl)}/api/embed`,
  body: ({ modelId }, input) => ({ model: modelId, input, truncate: true }),
  vectors: (reply) => (isRecord(reply) && Array.isArray(reply.embeddings) ? reply.embeddings : []),
};

/** Models of llama create vectors in a local process. */
const wires: Partial<Record<string, EmbeddingWire>> = {
  openai: openAiWire,
  litellm: openAiWire,
  openrouter: openAiWire,
  'openai-compatible': openAiWire,
  ollama: ollamaWire,
};

export const canEmbed = (provider: string): boolean =>
  provider === 'llama' || wires[provider] !== undefined;

export const embeddingModel = (options: EmbeddingOptions): EmbeddingModel => {
  const { name, provider } = options;
  const traits = { adaptations: new Set<string>() };
  const fetch = createWireFetch({ ...options, traits, begun: () => undefined });
  const wire = wires[provider] ?? openAiWire;
  return {
    embed: async (texts, signal) => {
      const apiKey = (await options.keyOf?.()) ?? options.apiKey;
      assertKeySendable(name, apiKey);
      try {
        const response = await fetch(wire.path(options.baseUrl), {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(apiKey && adapters[provider].keyHeader(apiKey)),
          },
          body: JSON.stringify(wire.body(options, texts)),
          signal,
        });
        const reply = parsedJson(await replyText(options, response, texts.length));
        const vectors = wire.vectors(reply).map((vector) => checkVector(options, vector));
        if (vectors.length !== texts.length)
          throw invalidVectors(name, 'a different number of vectors than texts');
        return { vectors, inputTokens: usageIn(reply).inputTokens ?? estimate(texts) };
      } catch (error) {
        throw signal.aborted ? abortFailure(name, signal) : modelFailure(name, error);
      }
    },
  };
};

/** Limited by the expected size of the vectors. */
const replyText = async (
  { name, dimensions }: EmbeddingOptions,
  response: Response,
  texts: number,
): Promise<string> => {
  let left = FRAME_BYTES + texts * dimensions * NUMBER_BYTES;
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) {
    left -= piece.length;
    if (left < 0) throw invalidVectors(name, 'a reply that is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
};

const estimate = (texts: string[]): number =>
  texts.reduce((sum, text) => sum + textTokens(text), 0);

/** Throws ModelFailure. */
export const checkVector = (
  { name, dimensions }: Pick<EmbeddingOptions, 'name' | 'dimensions'>,
  vector: unknown,
): number[] => {
  if (!Array.isArray(vector)) throw invalidVectors(name, 'no vectors');
  const numbers = vector.filter((each): each is number => Number.isFinite(each));
  if (numbers.length !== vector.length)
    throw invalidVectors(name, 'vectors with values that are not numbers');
  if (numbers.length !== dimensions) {
    throw new ModelFailure(
      'invalid_reply',
      `${name} sent vectors of ${numbers.length} dimensions instead of ${dimensions}. Set the number: adjutant models update ${name} --dimensions ${numbers.length} (if the model is active, first run: adjutant models routing remove embeddings)`,
    );
  }
  return numbers;
};

export const invalidVectors = (name: string, what: string): ModelFailure =>
  new ModelFailure('invalid_reply', `${name} sent ${what}. Try again or use another model`);
