import { isRecord, parsedJson } from '../../kernel/jsonvalue.js';
import { adapters, type ModelEndpoint, ollamaRoot, type Provider } from './adapters.js';
import { endedBy, modelFailure, refuseUnsendable } from './failure.js';
import { ModelFailure } from './model.js';
import { textTokens } from './tokens.js';
import { usageIn } from './usage.js';
import { wireOf } from './wire.js';

/** Vectors of texts, in their order, and the tokens that the provider counted. */
export interface EmbeddedTexts {
  vectors: number[][];
  inputTokens: number;
}

/** A model that makes vectors. */
export interface EmbeddingModel {
  /** Makes the vectors of texts, without retries. Every failure is a ModelFailure. */
  embed(texts: string[], signal: AbortSignal): Promise<EmbeddedTexts>;
}

/** The options of such a model. `fetch` is the guarded client's. */
export interface EmbeddingOptions extends ModelEndpoint {
  provider: Provider;
  /** The numbers of a vector. A reply with others is refused. */
  dimensions: number;
  apiKey?: string;
  /** Returns the key, in place of `apiKey`. */
  keyOf?(): Promise<string | null>;
}

/** The interface by which a provider makes vectors. */
interface EmbeddingWire {
  path(baseUrl: string): string;
  body(options: EmbeddingOptions, texts: string[]): Record<string, unknown>;
  vectors(reply: unknown): unknown[];
}

/** Ours: the most bytes of a number in a reply, with what parts it from the next. */
const NUMBER_BYTES = 32;
/** Ours: the most bytes of a reply beside its numbers. */
const FRAME_BYTES = 64 * 1024;

/** Models of OpenAI that can shorten their vectors; others refuse the field. */
const SHORTENS = /^text-embedding-3-/;

/** The interface of OpenAI: `POST /embeddings`. */
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

/** The interface of Ollama: `POST /api/embed`. */
const ollamaWire: EmbeddingWire = {
  path: (baseUrl) => `${ollamaRoot(baseUrl)}/api/embed`,
  body: ({ modelId }, input) => ({ model: modelId, input, truncate: true }),
  vectors: (reply) => (isRecord(reply) && Array.isArray(reply.embeddings) ? reply.embeddings : []),
};

/** The interfaces by provider. Models of llama make vectors in a process of ours. */
const wires: Partial<Record<string, EmbeddingWire>> = {
  openai: openAiWire,
  litellm: openAiWire,
  openrouter: openAiWire,
  'openai-compatible': openAiWire,
  ollama: ollamaWire,
};

/** Returns true if the models of a provider can make vectors here. */
export const embedsTexts = (provider: string): boolean =>
  provider === 'llama' || wires[provider] !== undefined;

/** Creates a model that makes vectors at the endpoint of a provider. */
export const embeddingModel = (options: EmbeddingOptions): EmbeddingModel => {
  const { name, provider } = options;
  const traits = { adaptations: new Set<string>() };
  const fetch = wireOf({ name, fetch: options.fetch, traits, begun: () => undefined });
  const wire = wires[provider] ?? openAiWire;
  return {
    embed: async (texts, signal) => {
      const apiKey = (await options.keyOf?.()) ?? options.apiKey;
      refuseUnsendable(name, apiKey);
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
        const vectors = wire.vectors(reply).map((vector) => checkedVector(options, vector));
        if (vectors.length !== texts.length)
          throw invalid(name, 'a different number of vectors than texts');
        return { vectors, inputTokens: usageIn(reply).inputTokens ?? estimate(texts) };
      } catch (error) {
        throw signal.aborted ? endedBy(name, signal) : modelFailure(name, error);
      }
    },
  };
};

/** Reads a reply of no more bytes than so many vectors take. */
const replyText = async (
  { name, dimensions }: EmbeddingOptions,
  response: Response,
  texts: number,
): Promise<string> => {
  let left = FRAME_BYTES + texts * dimensions * NUMBER_BYTES;
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) {
    left -= piece.length;
    if (left < 0) throw invalid(name, 'a reply that is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
};

const estimate = (texts: string[]): number =>
  texts.reduce((sum, text) => sum + textTokens(text), 0);

/** Returns a vector if it is one of so many numbers. Throws ModelFailure. */
export const checkedVector = (
  { name, dimensions }: Pick<EmbeddingOptions, 'name' | 'dimensions'>,
  vector: unknown,
): number[] => {
  if (!Array.isArray(vector)) throw invalid(name, 'no vectors');
  const numbers = vector.filter((each): each is number => Number.isFinite(each));
  if (numbers.length !== vector.length)
    throw invalid(name, 'vectors with values that are not numbers');
  if (numbers.length !== dimensions) {
    throw invalid(name, `vectors of ${numbers.length} dimensions instead of ${dimensions}`);
  }
  return numbers;
};

const invalid = (name: string, what: string): ModelFailure =>
  new ModelFailure('invalid_reply', `${name} sent ${what}`);
