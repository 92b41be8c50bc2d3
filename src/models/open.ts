import type { Http } from '../kernel/http.js';
import type { CliTools } from '../providers/clitools/clitools.js';
import { adapters, type Provider } from '../providers/llm/adapters.js';
import { openAiSdkModel } from '../providers/llm/create.js';
import { type EmbeddingModel, embeddingModel } from '../providers/llm/embeddings.js';
import type { LlamaModels, LlamaOpening } from '../providers/llm/llama/llama.js';
import type { Model, Price } from '../providers/llm/model.js';
import type { ModelTimeouts } from '../providers/llm/timeouts.js';
import {
  hearsSpeech,
  type TranscriptionModel,
  transcriptionModel,
} from '../providers/llm/transcription.js';
import type { ModelView } from './contract.js';
import type { ModelEmbedding } from './facts.js';

export type Supports = ModelView['supports'];

/** The data that is needed to call a model. */
export interface ModelAccess {
  name: string;
  provider: Provider | 'llama' | 'cli';
  modelId: string;
  /** Base URL; null for the provider's own. */
  baseUrl: string | null;
  apiKey?: string;
  /** Replaces `apiKey`: returns the present key for each step; null if there is none now. */
  keyOf?(): Promise<string | null>;
  contextWindow: number;
  maxOutputTokens: number | null;
  supports: Supports;
  price: Price | null;
  /** The facts of the vectors that it makes; null: it makes none. */
  embedding: ModelEmbedding | null;
}

export type OpenModel = (opening: ModelAccess) => Model;

export type OpenEmbedding = (opening: ModelAccess) => EmbeddingModel | null;

/** Ours: the longest time of a batch of vectors, in milliseconds. */
const BATCH_MS = 120_000;

/** Returns the function that opens models which make vectors; null for one that makes none. */
export const embeddingOpener =
  (http: Http, llama: LlamaModels): OpenEmbedding =>
  ({ provider, embedding, ...opening }) => {
    if (provider === 'cli' || !embedding) return null;
    if (provider === 'llama') return llama.embedding(llamaOpening(opening), embedding.dimensions);
    const baseUrl = opening.baseUrl ?? adapters[provider].baseUrl ?? '';
    const limits = { firstByteMs: BATCH_MS, silenceMs: BATCH_MS, totalMs: BATCH_MS };
    const fetch = http.fetchFor(baseUrl, limits);
    return embeddingModel({
      ...opening,
      provider,
      baseUrl,
      dimensions: embedding.dimensions,
      fetch,
    });
  };

export type OpenTranscription = (opening: ModelAccess) => TranscriptionModel | null;

/** Ours: the longest time of a piece of speech, in milliseconds. */
const SPEECH_MS = 600_000;

/** Returns the function that opens models which turn speech into text; null for one that does not. */
export const transcriptionOpener =
  (http: Http): OpenTranscription =>
  ({ provider, supports, ...opening }) => {
    if (!supports.transcription || !hearsSpeech(provider)) return null;
    const baseUrl = opening.baseUrl ?? adapters[provider].baseUrl ?? '';
    const limits = { firstByteMs: SPEECH_MS, silenceMs: SPEECH_MS, totalMs: SPEECH_MS };
    const fetch = http.fetchFor(baseUrl, { ...limits, redirects: 0 });
    return transcriptionModel({ ...opening, provider, baseUrl, fetch });
  };

/** The models that need no server. */
interface LocalModels {
  cliTools: Pick<CliTools, 'model'>;
  llama: LlamaModels;
}

/**
 * Returns the function that opens models. A model reaches the host and port of its base URL, and
 * what egressAllow names.
 */
export const modelOpener =
  (http: Http, timeouts: ModelTimeouts, { cliTools, llama }: LocalModels): OpenModel =>
  ({ provider, ...given }) => {
    const { supports, price, maxOutputTokens, ...opening } = given;
    if (provider === 'cli') return cliTools.model({ ...opening, price });
    if (provider === 'llama') return llama.model(llamaOpening(given));
    const baseUrl = opening.baseUrl ?? adapters[provider].baseUrl ?? '';
    const { firstTokenMs: firstByteMs, silenceMs, totalMs } = timeouts;
    return openAiSdkModel({
      ...opening,
      provider,
      baseUrl,
      ...(maxOutputTokens !== null && { maxOutputTokens }),
      ...(price && { price }),
      streaming: supports.streaming,
      takesTools: supports.tools,
      fetch: http.fetchFor(baseUrl, { firstByteMs, silenceMs, totalMs }),
      timeouts,
    });
  };

const llamaOpening = (given: Omit<ModelAccess, 'provider' | 'embedding'>): LlamaOpening => {
  const { name, modelId, contextWindow, maxOutputTokens, supports, price } = given;
  return { name, modelId, contextWindow, maxOutputTokens, takesTools: supports.tools, price };
};
