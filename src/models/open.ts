import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { CliTools } from '../providers/clitools/clitools.js';
import { adapters, type Provider } from '../providers/llm/adapters.js';
import { openAiSdkModel } from '../providers/llm/create.js';
import { type EmbeddingModel, embeddingModel } from '../providers/llm/embeddings.js';
import type { LlamaModels } from '../providers/llm/llama/llama.js';
import type { LlamaOpening } from '../providers/llm/llama/loadedmodels.js';
import type { Model, Price } from '../providers/llm/model.js';
import type { ModelTimeouts } from '../providers/llm/timeouts.js';
import {
  canTranscribe,
  type TranscriptionModel,
  transcriptionModel,
} from '../providers/llm/transcription.js';
import type { ModelView } from './contract.js';
import type { ModelEmbedding } from './facts.js';

export type Supports = ModelView['supports'];

export interface ModelAccess {
  name: string;
  provider: Provider | 'llama' | 'cli';
  modelId: string;
  /** Null for the default of the provider. */
  baseUrl: string | null;
  apiKey?: string;
  /** Replaces `apiKey`. Called for each step. Null if there is no key. */
  keyOf?(): Promise<string | null>;
  contextWindow: number;
  maxOutputTokens: number | null;
  supports: Supports;
  price: Price | null;
  /** Null if the model creates no embeddings. */
  embedding: ModelEmbedding | null;
  /** Organization that owns the model. Its base URL gets no exception from the egress guard. */
  orgId: string | null;
}

export type OpenModel = (opening: ModelAccess) => Model;

export type OpenEmbedding = (opening: ModelAccess) => EmbeddingModel | null;

/** Time limit of a batch of texts. */
const BATCH_MS = 120_000;

/** Null for a model without embeddings. */
export const embeddingOpener =
  (http: Http, llama: LlamaModels): OpenEmbedding =>
  ({ provider, embedding, ...opening }) => {
    if (provider === 'cli' || !embedding) return null;
    if (provider === 'llama') return llama.embedding(llamaOpening(opening), embedding.dimensions);
    const baseUrl = opening.baseUrl ?? adapters[provider].baseUrl ?? '';
    const limits = { firstByteMs: BATCH_MS, silenceMs: BATCH_MS, totalMs: BATCH_MS };
    const fetch = http.fetchFor(baseUrl, { ...limits, isTrusted: isTrusted(opening) });
    return embeddingModel({
      ...opening,
      provider,
      baseUrl,
      dimensions: embedding.dimensions,
      fetch,
    });
  };

export type OpenTranscription = (opening: ModelAccess) => TranscriptionModel | null;

/** Time limit of a piece of speech. */
const SPEECH_MS = 600_000;

/** Null for a model without transcription. */
export const transcriptionOpener =
  (http: Http): OpenTranscription =>
  ({ provider, supports, ...opening }) => {
    if (!supports.transcription || !canTranscribe(provider)) return null;
    const baseUrl = opening.baseUrl ?? adapters[provider].baseUrl ?? '';
    const limits = { firstByteMs: SPEECH_MS, silenceMs: SPEECH_MS, totalMs: SPEECH_MS };
    const fetch = http.fetchFor(baseUrl, {
      ...limits,
      redirects: 0,
      isTrusted: isTrusted(opening),
    });
    return transcriptionModel({ ...opening, provider, baseUrl, fetch });
  };

interface OpenerDeps {
  http: Http;
  clock: Clock;
  timeouts: ModelTimeouts;
  cliTools: Pick<CliTools, 'model'>;
  llama: LlamaModels;
}

/** Only admins of the installation may set the base URLs of its models. */
const isTrusted = ({ orgId }: Pick<ModelAccess, 'orgId'>): boolean => orgId === null;

/** A model can reach the host and port of its base URL, and egressAllow. */
export const modelOpener =
  ({ http, clock, timeouts, cliTools, llama }: OpenerDeps): OpenModel =>
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
      fetch: http.fetchFor(baseUrl, {
        ...{ firstByteMs, silenceMs, totalMs },
        isTrusted: isTrusted(given),
      }),
      timeouts,
      clock,
    });
  };

const llamaOpening = (given: Omit<ModelAccess, 'provider' | 'embedding'>): LlamaOpening => {
  const { name, modelId, contextWindow, maxOutputTokens, supports, price } = given;
  return { name, modelId, contextWindow, maxOutputTokens, takesTools: supports.tools, price };
};
