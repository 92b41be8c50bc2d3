import type { Http } from '../kernel/http.js';
import type { CliTools } from '../providers/clitools/clitools.js';
import { adapters, type Provider } from '../providers/llm/adapters.js';
import { openAiSdkModel } from '../providers/llm/create.js';
import type { Model, Price } from '../providers/llm/model.js';
import type { ModelTimeouts } from '../providers/llm/timeouts.js';
import type { ModelView } from './contract.js';

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
}

export type OpenModel = (opening: ModelAccess) => Model;

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
