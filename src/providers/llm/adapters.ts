import type { LanguageModelV4 } from '@ai-sdk/provider';
import { uniformChunks } from './chunks.js';
import { objectLines } from './lines.js';
import type { GlobalFetch } from './wire.js';

/** The providers that are called over HTTP. */
export type Provider =
  | 'openai'
  | 'anthropic'
  | 'google'
  | 'ollama'
  | 'litellm'
  | 'openrouter'
  | 'openai-compatible';

/** The address of a model. */
export interface ModelEndpoint {
  /** The name of the model in its failures. */
  name: string;
  modelId: string;
  baseUrl: string;
  fetch: GlobalFetch;
}

/** The most tokens of a reply, and of a whole call. */
interface TokenLimits {
  contextWindow: number;
  maxOutputTokens: number | undefined;
}

interface Adapter {
  /** The provider's own address; null if there is none. */
  baseUrl: string | null;
  /**
   * Loads the provider's package on first use, and opens the model. Most of that is the schema of its
   * replies, so it is done once for all calls, and without the key.
   */
  open(at: ModelEndpoint): Promise<LanguageModelV4>;
  /** Returns the header of a call that holds the key; its name must be in lower case. */
  keyHeader(apiKey: string): Record<string, string>;
  /** Returns the options of each call that only this provider has. */
  options?(room: TokenLimits): Record<string, Record<string, Record<string, number>>>;
}

/** A placeholder: an adapter without a key would look for one in the environment. */
const NO_KEY = 'none';

/** Returns the header for servers that expect their key as OpenAI's does. */
export const bearer = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

/** Creates the adapter for servers with OpenAI's chat completions. Without a key none is sent. */
const compatible = (baseUrl: string | null): Adapter => ({
  baseUrl,
  open: async ({ modelId, baseUrl: baseURL, fetch }) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const options = {
      name: 'compatible',
      baseURL,
      includeUsage: true,
      fetch: uniformChunks(fetch),
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
      // Chat completions are used because the newer interface stores the conversation at the
      // provider.
      return createOpenAI({ baseURL, apiKey: NO_KEY, fetch: uniformChunks(fetch) }).chat(modelId);
    },
    keyHeader: bearer,
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    open: async ({ modelId, baseUrl: baseURL, fetch }) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL, apiKey: NO_KEY, fetch })(modelId);
    },
    keyHeader: (apiKey) => ({ 'x-api-key': apiKey }),
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    open: async ({ modelId, baseUrl: baseURL, fetch }) => {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ baseURL, apiKey: NO_KEY, fetch })(modelId);
    },
    keyHeader: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434',
    open: async ({ name, modelId, baseUrl, fetch }) => {
      const { createOllama } = await import('ollama-ai-provider-v2');
      const baseURL = `${ollamaRoot(baseUrl)}/api`;
      return createOllama({ baseURL, fetch: objectLines(name, fetch) })(modelId);
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

/** Returns Ollama's address without the path of one of its interfaces. */
export const ollamaRoot = (baseUrl: string): string => baseUrl.replace(/\/(api|v1)?\/*$/, '');
