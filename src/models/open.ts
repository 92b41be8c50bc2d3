import type { Http } from '../kernel/http.js';
import type { CliTools } from '../providers/clitools/clitools.js';
import { adapters, type Provider } from '../providers/llm/adapters.js';
import { openAiSdkModel } from '../providers/llm/create.js';
import { type EmbeddingModel, embeddingModel } from '../providers/llm/embeddings.js';
import type { Model, Price } from '../providers/llm/model.js';
import type { ModelTimeouts } from '../providers/llm/timeouts.js';
import type { ModelView } from './contract.js';
import type { ModelEmbedding } from './facts.js';

export type Supports = ModelView['supports'];

/** The data that is needed to call a model. */
export interface ModelAccess {
  name: string;
  provider: Provider | 'cli';
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
  (http: Http): OpenEmbedding =>
  ({ provider, embedding, ...opening }) => {
    if (provider === 'cli' || !embedding) return null;
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

/**
 * Returns the function that opens models. A model reaches the host and port of its base URL, and
 * what egressAllow names.
 */
export const modelOpener =
  (http: Http, timeouts: ModelTimeouts, cliTools: Pick<CliTools, 'model'>): OpenModel =>
  ({ supports, price, maxOutputTokens, provider, ...opening }) => {
    if (provider === 'cli') return cliTools.model({ ...opening, price });
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
