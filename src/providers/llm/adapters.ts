import type { LanguageModelV4 } from '@ai-sdk/provider';
import { normalizeChunks } from './chunks.js';
import {
  anthropicArguments,
  exactArguments,
  googleArguments,
  ollamaArguments,
} from './exactarguments.js';
import { failOnErrors, objectLines } from './lines.js';
import type { GlobalFetch } from './wire.js';

export type Provider =
  | 'openai'
  | 'anthropic'
  | 'google'
  | 'ollama'
  | 'litellm'
  | 'openrouter'
  | 'openai-compatible';

export interface ModelEndpoint {
  name: string;
  modelId: string;
  baseUrl: string;
  fetch: GlobalFetch;
}

/** Maximum tokens. */
interface TokenLimits {
  contextWindow: number;
  maxOutputTokens: number | undefined;
}

interface Adapter {
  baseUrl: string | null;
  /**
   * The package is loaded on first use, and the model is opened once, without the key, because its
   * schemas are expensive.
   */
  open(at: ModelEndpoint): Promise<LanguageModelV4>;
  /** The name of the header must be in lower case. */
  keyHeader(apiKey: string): Record<string, string>;
  options?(room: TokenLimits): Record<string, Record<string, Record<string, number>>>;
}

/** Without a key, an adapter would read one from the environment. */
const NO_KEY = 'none';

export const bearer = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

const compatible = (baseUrl: string | null): Adapter => ({
  baseUrl,
  open: async ({ modelId, baseUrl: baseURL, fetch }) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const options = {
      name: 'compatible',
      baseURL,
      includeUsage: true,
      fetch: normalizeChunks(fetch),
    };
    return createOpenAICompatible(options).chatModel(modelId);
  },
  keyHeader: bearer,
});

export const adapters: Record<Provider, Adapter> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    open: async ({ modelId, baseUrl: baseURL, fetch }) => {
      const { createOpenAI } = await import('@ai-sdk/openai');
      // The newer interface stores conversations at the provider.
      return createOpenAI({ baseURL, apiKey: NO_KEY, fetch: normalizeChunks(fetch) }).chat(modelId);
    },
    keyHeader: bearer,
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    open: async ({ modelId, baseUrl: baseURL, fetch }) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const exactFetch = exactArguments(fetch, anthropicArguments);
      return createAnthropic({ baseURL, apiKey: NO_KEY, fetch: exactFetch })(modelId);
    },
    keyHeader: (apiKey) => ({ 'x-api-key': apiKey }),
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    open: async ({ name, modelId, baseUrl: baseURL, fetch }) => {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      const exactFetch = exactArguments(failOnErrors({ name, modelId }, fetch), googleArguments);
      return createGoogleGenerativeAI({ baseURL, apiKey: NO_KEY, fetch: exactFetch })(modelId);
    },
    keyHeader: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434',
    open: async ({ name, modelId, baseUrl, fetch }) => {
      const { createOllama } = await import('ollama-ai-provider-v2');
      const baseURL = `${ollamaRoot(baseUrl)}/api`;
      const exactFetch = exactArguments(objectLines({ name, modelId }, fetch), ollamaArguments);
      return createOllama({ baseURL, fetch: exactFetch })(modelId);
    },
    keyHeader: bearer,
    // Ollama silently cuts a prompt that exceeds its own window (4096 by default).
    options: ({ contextWindow, maxOutputTokens }) => ({
      ollama: {
        options: {
          num_ctx: contextWindow,
          ...(maxOutputTokens !== undefined && { num_predict: maxOutputTokens }),
        },
      },
    }),
  },
  litellm: compatible('http://127.0.0.1:4000'),
  openrouter: compatible('https://openrouter.ai/api/v1'),
  'openai-compatible': compatible(null),
};

/** Without the path of an API. */
export const ollamaRoot = (baseUrl: string): string => baseUrl.replace(/\/(api|v1)?\/*$/, '');
