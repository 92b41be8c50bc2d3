import type { Http } from '../kernel/http.js';
import type { RegisteredModel } from '../models/module.js';
import { adapters } from '../providers/llm/adapters.js';
import { NoList, ollamaModels } from '../providers/llm/available.js';

/** The Ollama server that is used here, and the models that it has. */
export interface OllamaState {
  baseUrl: string;
  /** Its names of models: `qwen3:4b`. */
  models: string[];
  /** The reason why it does not reply. */
  fault: string | null;
}

/** Returns the address of the newest registered model of Ollama, else its usual one. */
export const ollamaAddress = (models: Pick<RegisteredModel, 'provider' | 'baseUrl'>[]): string =>
  models.find(({ provider, baseUrl }) => provider === 'ollama' && baseUrl !== null)?.baseUrl ??
  adapters.ollama.baseUrl ??
  '';

/** Returns an address of Ollama as a model keeps it: null for the usual one. */
export const ownAddress = (address: string): string | null =>
  address === adapters.ollama.baseUrl ? null : address;

/** Ours: a list does not wait longer for a server that is silent, in milliseconds. */
const PATIENCE_MS = 2000;

const withinMs = async <T>(asked: Promise<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoList(`no response for ${ms / 1000} s`)), ms);
  });
  // One that is late fails unheard.
  asked.catch(() => undefined);
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
};

/** Asks the Ollama at an address for its models. */
export const ollamaState = async (http: Http, baseUrl: string): Promise<OllamaState> => {
  try {
    const models = await withinMs(ollamaModels(http, { baseUrl }), PATIENCE_MS);
    return { baseUrl, models: [...new Set(models.map(({ modelId }) => modelId))], fault: null };
  } catch (error) {
    if (!(error instanceof NoList)) throw error;
    return { baseUrl, models: [], fault: error.message };
  }
};
