import type { LanguageModel, ModelMessage } from 'ai';
import { objectLines } from './lines.js';
import type { GlobalFetch } from './wire.js';

/** Providers that are spoken to over HTTP. */
export type Provider =
  | 'openai'
  | 'anthropic'
  | 'google'
  | 'ollama'
  | 'litellm'
  | 'openrouter'
  | 'openai-compatible';

/** Where a model is, and what is shown there. */
export interface ModelEndpoint {
  /** What its failures call it. */
  name: string;
  modelId: string;
  baseUrl: string;
  apiKey?: string;
  fetch: GlobalFetch;
}

/** Tokens that an answer and all of a call may take. */
interface Room {
  contextWindow: number;
  maxOutputTokens: number | undefined;
}

interface Adapter {
  /** The provider's own address; null where there is none. */
  baseUrl: string | null;
  /** Loads the provider's package, which is done on first use. */
  open(at: ModelEndpoint): Promise<LanguageModel>;
  /** What only this provider wants to be told with each call. */
  options?(room: Room): Record<string, Record<string, Record<string, number>>>;
  /** The provider takes a system message in the first place alone. */
  isSystemFirst?: true;
}

/** An adapter without a key of its own would look for one in the environment. */
const NO_KEY = 'none';

/** Whoever speaks OpenAI's chat completions; without a key none is sent. */
const compatible = (baseUrl: string | null): Adapter => ({
  baseUrl,
  open: async ({ modelId, baseUrl: baseURL, apiKey, fetch }) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const options = { name: 'compatible', baseURL, apiKey, includeUsage: true, fetch };
    return createOpenAICompatible(options).chatModel(modelId);
  },
});

export const adapters: Record<Provider, Adapter> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    open: async ({ modelId, baseUrl: baseURL, apiKey = NO_KEY, fetch }) => {
      const { createOpenAI } = await import('@ai-sdk/openai');
      // Chat completions: the newer interface keeps what was said at the provider.
      return createOpenAI({ baseURL, apiKey, fetch }).chat(modelId);
    },
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    open: async ({ modelId, baseUrl: baseURL, apiKey = NO_KEY, fetch }) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL, apiKey, fetch })(modelId);
    },
    isSystemFirst: true,
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    open: async ({ modelId, baseUrl: baseURL, apiKey = NO_KEY, fetch }) => {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ baseURL, apiKey, fetch })(modelId);
    },
    isSystemFirst: true,
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434',
    open: async ({ name, modelId, baseUrl, apiKey, fetch }) => {
      const { createOllama } = await import('ollama-ai-provider-v2');
      const baseURL = `${ollamaRoot(baseUrl)}/api`;
      const lines = objectLines(name, fetch);
      return createOllama({ baseURL, headers: bearer(apiKey), fetch: lines })(modelId);
    },
    // Ollama cuts what is longer than its own window (4096 unless told) and says nothing of it.
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

/** Ollama's address without the part that belongs to one of its interfaces. */
export const ollamaRoot = (baseUrl: string): string => baseUrl.replace(/\/(api|v1)?\/*$/, '');

/** For servers that want their key as OpenAI's does. */
export const bearer = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

/** System messages behind the first turns become the user's, for providers that take none there. */
export const leadingSystem = (messages: ModelMessage[]): ModelMessage[] => {
  const begin = messages.findIndex(({ role }) => role !== 'system');
  return messages.map((message, at) =>
    message.role === 'system' && begin >= 0 && at > begin
      ? { role: 'user', content: message.content }
      : message,
  );
};
